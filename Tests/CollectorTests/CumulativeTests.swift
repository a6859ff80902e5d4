import Fixtures
import GRDB
import MartletIntake
import MartletOTLP
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

/// Metrics that count on, from the body of a request to what a report is made of.
@Suite struct CumulativeTests {
    private let folder: TemporaryFolder
    private let storage: SQLiteStorage
    /// Long ago, for a sender of which nothing is known.
    private let day: UInt64 = 24 * 3600

    init() throws {
        folder = try TemporaryFolder()
        storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
    }

    private func send(
        _ metrics: [OTLPMetric], instance: String = "a", to storage: SQLiteStorage? = nil
    ) async throws {
        let request = OtherMetrics.request(
            scopes: [metrics],
            resource: [OTLPKeyValue("service.name", "shop"), OTLPKeyValue("service.instance.id", instance)])
        let taken = try Intake().metrics(try request.serializedBytes(), encoding: .identity)
        #expect(taken.refusals.message == "")
        _ = try await (storage ?? self.storage).store(taken.values, of: nil)
    }

    private func send(
        _ values: [Double], start: UInt64 = 0, end: UInt64, instance: String = "a",
        attributes: [OTLPKeyValue] = OtherMetrics.attributes
    ) async throws {
        let point = OtherMetrics.point(values, start: start, end: end, attributes: attributes)
        try await send([OtherMetrics.histogram([point])], instance: instance)
    }

    private func statistics(from: UInt64 = 0, to: UInt64 = 1_000_000) async throws -> RequestStatistics {
        let window = TimeWindow(from: Samples.time(from), to: Samples.time(to))
        let answer = try await storage.statistics(StatisticsQuery(window: window, by: []))
        return answer.groups.values.reduce(into: RequestStatistics()) { $0.merge($1) }
    }

    private func count(from: UInt64 = 0, to: UInt64 = 1_000_000) async throws -> UInt64 {
        try await statistics(from: from, to: to).duration.count
    }

    @Test func eachPointCountsWhatCameInSinceTheLast() async throws {
        try await send([0.2, 0.3], end: 10)
        try await send([0.2, 0.3, 0.05, 7], end: 20)
        try await send([0.2, 0.3, 0.05, 7], end: 30)
        #expect(try await count(to: 10) == 2)
        #expect(try await count(from: 10, to: 20) == 2)
        #expect(try await count(from: 20, to: 30) == 0)
        let second = try await statistics(from: 10, to: 20).duration
        #expect(abs(second.sum - 7.05) < 1e-9)
        #expect(second.max == 7)
        #expect(second.min == 0.05)
        #expect(try await count(to: 30) == 4)
    }

    @Test func whatDidNotMoveIsBoundedByItsBucket() async throws {
        try await send([0.05, 0.2, 7], end: 10)
        try await send([0.05, 0.2, 7, 0.3], end: 20)
        let second = try await statistics(from: 10, to: 20).duration
        let (min, max) = (try #require(second.min), try #require(second.max))
        #expect(min < max && min > 0.099 && max < 0.51)
        #expect(try await statistics(to: 20).duration.max == 7)
        #expect(try await statistics(to: 20).duration.min == 0.05)
    }

    @Test func aMissedPointMakesALongerInterval() async throws {
        try await send([0.2], end: 10)
        try await send([0.2, 0.2, 0.2, 0.2], end: 40)
        #expect(try await count(from: 10, to: 40) == 3)
    }

    @Test func pointsThatComeTwiceOrLateTellNothing() async throws {
        try await send([0.2], end: 10)
        try await send([0.2, 0.2, 0.2], end: 30)
        try await send([0.2, 0.2, 0.2], end: 30)
        try await send([0.2, 0.2], end: 20)
        #expect(try await count() == 3)
        try await send([0.2, 0.2, 0.2, 0.2], end: 40)
        #expect(try await count() == 4)
    }

    @Test func aRestartCountsFromItsStart() async throws {
        try await send([0.2, 0.2, 0.2], end: 10)
        try await send([0.2, 0.2, 0.2, 0.2], start: 15, end: 20)
        #expect(try await count(from: 10, to: 20) == 4)
        try await send([0.2, 0.2, 0.2, 0.2, 0.2], start: 15, end: 30)
        #expect(try await count() == 8)
    }

    @Test func aCountThatFellIsARestartThatIsNotToldOf() async throws {
        try await send([0.2, 0.2, 0.2], end: 10)
        try await send([0.2, 0.2], end: 20)
        #expect(try await count() == 5)
        try await send([0.2, 0.2, 0.3], end: 30)
        #expect(try await count() == 6)
    }

    @Test func aBucketThatFellIsARestartToo() async throws {
        try await send([0.2], end: 10)
        try await send([0.7, 0.7], end: 20)
        #expect(try await count() == 3)
    }

    @Test func processesThatShareAResourceAreToldApartByTheirStarts() async throws {
        for round in 1...3 as ClosedRange<UInt64> {
            let values = Array(repeating: 0.2, count: Int(round) * 5)
            try await send(values, start: 0, end: round * 10, instance: "")
            try await send(values + [0.3], start: 1, end: round * 10 + 1, instance: "")
        }
        #expect(try await count() == 31)
    }

    @Test func whatAnUnknownSenderCountedLongAgoIsNotTakenForNow() async throws {
        try await send([0.2, 0.2], start: 0, end: day)
        #expect(try await count() == 0)
        try await send([0.2, 0.2, 0.2], start: 0, end: day + 10)
        #expect(try await count() == 1)
    }

    @Test func aNewSeriesOfAKnownProcessCountsSinceItWasHeardOf() async throws {
        try await send([0.2, 0.2], start: 0, end: day)
        let failures = OtherMetrics.attributes.dropLast() + [OTLPKeyValue("http.response.status_code", Int64(500))]
        try await send([0.3, 0.3], start: 0, end: day + 10, attributes: Array(failures))
        #expect(try await count() == 2)
    }

    @Test func aProcessThatBeganAfterTheLastThatIsKnownCountsWhole() async throws {
        try await send([0.2], start: 0, end: 10)
        try await send([0.2, 0.2], start: 20, end: day)
        #expect(try await count() == 3)
    }

    @Test func aSenderThatDoesNotSayItsStartCountsFromItsSecondPoint() async throws {
        var points = [OtherMetrics.point([0.2], end: 10), OtherMetrics.point([0.2, 0.2, 0.2], end: 20)]
        for index in points.indices { points[index].startTimeUnixNano = 0 }
        try await send([OtherMetrics.histogram([points[0]])])
        try await send([OtherMetrics.histogram([points[1]])])
        #expect(try await count() == 2)
    }

    @Test func attributesThatAreNoDimensionTellStreamsApart() async throws {
        func attributes(_ version: String) -> [OTLPKeyValue] {
            [OTLPKeyValue("network.protocol.version", version)] + OtherMetrics.attributes
        }
        for round in 1...3 as ClosedRange<UInt64> {
            let points = [("1.1", 0.2), ("2", 0.3)].map { version, value in
                OtherMetrics.point(
                    Array(repeating: value, count: Int(round)), end: round * 10,
                    attributes: round == 2 ? attributes(version).reversed() : attributes(version))
            }
            try await send([OtherMetrics.histogram(points)])
        }
        #expect(try await count() == 6)
    }

    @Test func sizesCountOnToo() async throws {
        for (round, sizes) in [(UInt64(1), [100.0]), (2, [100, 50]), (3, [100, 50, 0])] {
            let end = round * 10
            try await send([
                OtherMetrics.histogram([OtherMetrics.point(sizes.map { _ in 0.2 }, end: end)]),
                OtherMetrics.histogram(
                    [OtherMetrics.point(sizes, start: 1, end: end)], name: MetricName.serverResponseSize, unit: "By"),
            ])
        }
        #expect(try await statistics().bytesSent == 150)
        #expect(try await statistics(from: 10, to: 20).bytesSent == 50)
        #expect(try await count() == 3)
    }

    @Test func sizesThatHaveNoDurationsBesideThemSurviveBeingRolledUp() async throws {
        let storage = try SQLiteStorage(path: folder.path("rolled.sqlite"), now: { Samples.time(4000) })
        for end in [20, 30, 40] as [UInt64] {
            let size = OtherMetrics.point([50], end: end)
            try await send(
                [OtherMetrics.histogram([size], name: MetricName.serverResponseSize, unit: "By", .delta)], to: storage)
        }
        try await storage.maintain()
        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: []))
        #expect(answer.groups.values.map(\.bytesSent) == [150])
        #expect(answer.damagedPoints == 0)
    }

    @Test func withoutBucketsTheDifferenceIsAtItsMean() async throws {
        for (values, end) in [([0.2, 0.4], UInt64(10)), ([0.2, 0.4, 1, 3], 20)] {
            try await send([OtherMetrics.histogram([OtherMetrics.point(values, bounds: [], end: end)])])
        }
        let second = try await statistics(from: 10, to: 20).duration
        #expect(second.count == 2)
        #expect(abs(try #require(second.quantile(0.5)) - 2) < 0.01)
    }

    @Test func exponentialHistogramsAreSubtractedAtTheCoarserScale() async throws {
        func send(_ values: [Double], scale: Int32, end: UInt64) async throws {
            var histogram = ExponentialHistogram(scale: scale)
            for value in values { histogram.record(value) }
            var point = OTLPExponentialHistogramDataPoint(histogram)
            (point.startTimeUnixNano, point.timeUnixNano) = (Samples.time(0), Samples.time(end))
            point.attributes = OtherMetrics.attributes
            var metric = OTLPMetric()
            metric.name = MetricName.serverDuration
            metric.exponentialHistogram.aggregationTemporality = .cumulative
            metric.exponentialHistogram.dataPoints = [point]
            try await self.send([metric])
        }
        try await send([0.001, 0.2, 0.3], scale: 10, end: 10)
        try await send([0.001, 0.2, 0.3, 0.25, 40], scale: 4, end: 20)
        try await send([0.001, 0.2, 0.3, 0.25, 40, 0.001], scale: 4, end: 30)
        let second = try await statistics(from: 10, to: 20).duration
        #expect(second.count == 2)
        #expect(second.scale == 4)
        #expect(abs(try #require(second.quantile(0.5)) / 0.25 - 1) < 0.03)
        #expect(second.max == 40)
        #expect(try await count() == 6)
    }

    @Test func aRestartOfTheCollectorChangesNothing() async throws {
        let path = folder.path("other.sqlite")
        for round in 1...4 as ClosedRange<UInt64> {
            let storage = try SQLiteStorage(path: path)
            let point = OtherMetrics.point(Array(repeating: 0.2, count: Int(round) * 3), end: round * 10)
            try await send([OtherMetrics.histogram([point])], to: storage)
            try storage.close()
        }
        let answer = try await SQLiteStorage(readingFrom: path).statistics(
            StatisticsQuery(window: Samples.everything, by: []))
        #expect(answer.groups.values.map(\.duration.count) == [12])
    }

    @Test func theStreamsThatWereNotHeardOfForTheLongestTimeAreForgotten() async throws {
        var limits = SQLiteLimits()
        limits.maxCumulativeSeries = 3
        let path = folder.path("small.sqlite")
        let storage = try SQLiteStorage(path: path, limits: limits)
        for instance in ["a", "b", "c", "d", "e"] {
            try await send([OtherMetrics.histogram([OtherMetrics.point([0.2])])], instance: instance, to: storage)
        }
        let kept = try await DatabaseQueue(path: path).read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT instance FROM cumulative_series JOIN resource ON resource.id = resource_id ORDER BY instance
                    """)
        }
        #expect(kept == ["c", "d", "e"])
    }

    @Test func whatIsNewSinceAStateThatTheDiskDamagedIsNotCounted() async throws {
        try await send([0.2, 0.2], end: 10)
        try await DatabaseQueue(path: folder.path("collector.sqlite")).write { db in
            try db.execute(sql: "UPDATE cumulative_series SET sketch = x'00'")
        }
        try await send([0.2, 0.2, 0.2], end: 20)
        // Some of it had been counted, and nobody knows how much.
        #expect(try await count(from: 10, to: 20) == 0)
        try await send([0.2, 0.2, 0.2, 0.2], end: 30)
        #expect(try await count(from: 20) == 1)
    }

    /// Of a process that was half forgotten, what is not known would look new and count again.
    @Test func aProcessIsForgottenWithAllItsStreams() async throws {
        var limits = SQLiteLimits()
        limits.maxCumulativeSeries = 5
        let path = folder.path("small.sqlite")
        let storage = try SQLiteStorage(path: path, limits: limits)
        for instance in ["a", "b", "c"] {
            let points = ["/one", "/two"].map {
                OtherMetrics.point([0.2], attributes: [OTLPKeyValue("http.route", $0)])
            }
            try await send([OtherMetrics.histogram(points)], instance: instance, to: storage)
        }
        let kept = try await DatabaseQueue(path: path).read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT instance FROM cumulative_series JOIN resource ON resource.id = resource_id ORDER BY instance
                    """)
        }
        #expect(kept == ["b", "b", "c", "c"])
    }
}
