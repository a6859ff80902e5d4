import Fixtures
import MartletIntake
import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

extension StorageContractTests {
    /// Cumulative metrics, from the body of a request to the statistics of a report.
    @Suite struct CumulativeTests {
        private let folder: TemporaryFolder
        private let storage: any Storage
        /// A day in seconds. If an unknown sender began that long ago, its first point does not count.
        private let day: UInt64 = 24 * 3600
        private let failures =
            Array(OtherMetrics.attributes.dropLast()) + [OTLPKeyValue("http.response.status_code", Int64(500))]

        init() async throws {
            folder = try TemporaryFolder()
            // The clock advances, so that the store knows the order in which points arrived.
            let clock = Clock()
            clock.time = Samples.time(600_000)
            storage = try await StorageContractTests.makeStore(in: folder) {
                clock.time += 1_000_000
                return clock.time
            }
        }

        private func send(_ metrics: [OTLPMetric], instance: String = "a") async throws {
            try await OtherMetrics.send(metrics, instance: instance, to: storage)
        }

        private func send(
            _ values: [Double], start: UInt64 = 0, end: UInt64, instance: String = "a",
            attributes: [OTLPKeyValue] = OtherMetrics.attributes
        ) async throws {
            let point = OtherMetrics.point(values, start: start, end: end, attributes: attributes)
            try await send([OtherMetrics.histogram([point])], instance: instance)
        }

        private func statistics(from: UInt64 = 0, to: UInt64 = 1_000_000) async throws -> RequestStatistics {
            try await StorageContractTests.countCumulativePoints(in: storage)
            let window = TimeWindow(from: Samples.time(from), to: Samples.time(to))
            let answer = try await storage.statistics(StatisticsQuery(window: window, by: []))
            return answer.groups.reduce(into: RequestStatistics()) { $0.merge($1.statistics) }
        }

        private func count(from: UInt64 = 0, to: UInt64 = 1_000_000) async throws -> UInt64 {
            try await statistics(from: from, to: to).duration.count
        }

        @Test func sumThatFellByRoundingIsNotARestart() async throws {
            for (end, steps) in [(10, 0), (20, 1), (30, 2)] as [(UInt64, Int)] {
                var point = OtherMetrics.point([0.1, 0.2, 0.3, 0.7, 1.1], end: end)
                for _ in 0..<steps { point.sum = point.sum.nextDown }
                try await send([OtherMetrics.histogram([point])])
            }
            #expect(try await count() == 5)
        }

        @Test func eachPointCountsItsIncreaseSinceTheOneBefore() async throws {
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

        @Test func unchangedMinimumOrMaximumIsBoundedByItsBucket() async throws {
            try await send([0.05, 0.2, 7], end: 10)
            try await send([0.05, 0.2, 7, 0.3], end: 20)
            let second = try await statistics(from: 10, to: 20).duration
            let (min, max) = (try #require(second.min), try #require(second.max))
            #expect(min <= max && min > 0.099 && max < 0.51)
            #expect(try await statistics(to: 20).duration.max == 7)
            #expect(try await statistics(to: 20).duration.min == 0.05)
        }

        @Test func missingPointMakesTheIntervalLonger() async throws {
            try await send([0.2], end: 10)
            try await send([0.2, 0.2, 0.2, 0.2], end: 40)
            #expect(try await count(from: 10, to: 40) == 3)
        }

        @Test func repeatedAndLatePointsAddNothing() async throws {
            try await send([0.2], end: 10)
            try await send([0.2, 0.2, 0.2], end: 30)
            try await send([0.2, 0.2, 0.2], end: 30)
            try await send([0.2, 0.2], end: 20)
            #expect(try await count() == 3)
            try await send([0.2, 0.2, 0.2, 0.2], end: 40)
            #expect(try await count() == 4)
        }

        @Test func restartedStreamCountsFromItsStart() async throws {
            try await send([0.2, 0.2, 0.2], end: 10)
            try await send([0.2, 0.2, 0.2, 0.2], start: 15, end: 20)
            #expect(try await count(from: 10, to: 20) == 4)
            try await send([0.2, 0.2, 0.2, 0.2, 0.2], start: 15, end: 30)
            #expect(try await count() == 8)
        }

        private func sharedSenders() async throws -> [Int] {
            try await StorageContractTests.countCumulativePoints(in: storage)
            let window = TimeWindow(from: Samples.time(0), to: Samples.time(1000))
            let agents = try await storage.agents(seenSince: 0, RequestFilter(), limit: 10).agents
            return [
                try await storage.account(in: window, RequestFilter()).sharedSenders,
                agents.filter(\.isShared).count,
                try await storage.account(in: window, RequestFilter([.service: ["another"]])).sharedSenders,
            ]
        }

        @Test func fallenCountBelongsToAnotherWriterOfTheStream() async throws {
            try await send([0.2, 0.2, 0.2], end: 10)
            try await send([0.2, 0.2], end: 20)
            #expect(try await count() == 5)
            try await send([0.2, 0.2, 0.7], end: 30)
            #expect(try await count() == 6)
            #expect(try await sharedSenders() == [0, 0, 0], "the process may have restarted without a new start")
            try await send([0.2, 0.2, 0.2, 0.2], end: 40)
            #expect(try await count() == 7)
            #expect(try await sharedSenders() == [1, 1, 0])
        }

        @Test func sumThatFellBelongsToAnotherWriterToo() async throws {
            try await send([0.7], end: 10)
            try await send([0.2, 0.2], end: 20)
            #expect(try await count() == 3)
        }

        /// Points of processes that share a resource and a start, in the order of their arrival.
        struct SharedStream: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let points: [(count: Int, end: UInt64)]
            let requests: UInt64

            init(_ description: String, _ counts: [Int], ends: [UInt64]? = nil, requests: UInt64) {
                testDescription = description
                let ends = ends ?? counts.indices.map { 10 * UInt64($0 + 1) }
                points = zip(counts, ends).map { ($0, $1) }
                self.requests = requests
            }
        }

        static let sharedStreams = [
            SharedStream("two processes in turn", [100, 40, 110, 44, 120, 48], requests: 168),
            SharedStream("the second one has more", [10, 100, 12, 104, 20, 110], requests: 130),
            SharedStream("four, and one is idle", [5, 3, 9, 1, 5, 4, 9, 2], requests: 20),
            SharedStream("one is replaced", [30, 20, 35, 2, 40, 8], requests: 68),
            SharedStream(
                "a late point and a repeated one", [30, 20, 40, 35, 20, 25, 45], ends: [10, 12, 30, 20, 12, 32, 40],
                requests: 70),
            SharedStream(
                "they export at the same time", [7, 3, 9, 3, 12, 4], ends: [10, 10, 20, 20, 30, 30], requests: 16),
        ]

        @Test(arguments: sharedStreams)
        func processesThatShareAStartCountOnce(stream: SharedStream) async throws {
            for point in stream.points { try await send(Array(repeating: 0.2, count: point.count), end: point.end) }
            #expect(try await count() == stream.requests)
            #expect(try await sharedSenders() == [1, 1, 0])
        }

        @Test func processesThatShareAnOldStartCountFromTheirSecondPoints() async throws {
            for (count, end) in [(100, 0), (40, 10), (110, 60), (44, 70)] as [(Int, UInt64)] {
                try await send(Array(repeating: 0.2, count: count), end: day + end)
            }
            #expect(try await count() == 14)
        }

        @Test(
            arguments: [
                ([0.1, 0.5], [0.1, 0.25, 0.5]), ([0.1, 0.5], [0.05, 0.1, 0.5]), ([0.1, 0.25, 0.5], [0.1, 0.5]),
                ([0.1, 0.5], [0.2, 0.4, 0.8]), ([0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5], [0.02, 0.3]),
                ([0.1, 0.5], []),
                ([], [0.1, 0.5]),
            ] as [([Double], [Double])])
        func changedBoundsUnderOneStartAreNoRestart(bounds: [Double], later: [Double]) async throws {
            let first = [0.02, 0.02, 0.02, 0.07, 0.07, 0.15, 0.15, 0.3, 0.3, 0.45]
            let second = first + [0.06, 0.09, 0.12, 0.4]
            for (values, bounds, end) in [(first, bounds, 10), (second, later, 20), (second + [0.2], later, 30)] {
                try await send([OtherMetrics.histogram([OtherMetrics.point(values, bounds: bounds, end: UInt64(end))])])
            }
            #expect(try await count(from: 10, to: 20) == 4)
            #expect(try await count() == 15)
            #expect(abs(try await statistics().duration.sum - (second.reduce(0, +) + 0.2)) < 1e-9)
        }

        @Test func startsDistinguishProcessesThatShareAResource() async throws {
            for round in 1...3 as ClosedRange<UInt64> {
                let values = Array(repeating: 0.2, count: Int(round) * 5)
                try await send(values, start: 0, end: round * 10, instance: "")
                try await send(values + [0.3], start: 1, end: round * 10 + 1, instance: "")
            }
            #expect(try await count() == 31)
        }

        @Test func oldCountOfAnUnknownSenderIsNotNew() async throws {
            try await send([0.2, 0.2], start: 0, end: day)
            #expect(try await count() == 0)
            try await send([0.2, 0.2, 0.2], start: 0, end: day + 10)
            #expect(try await count() == 1)
        }

        @Test func newSeriesOfAKnownProcessCountsSinceItsLastReport() async throws {
            try await send([0.2, 0.2], start: 0, end: day)
            try await send([0.3, 0.3], start: 0, end: day + 10, attributes: failures)
            #expect(try await count() == 2)
        }

        /// Exporters that limit the size of a request split one collection into several.
        @Test func newSeriesCountsIfOthersOfItsCollectionArrivedFirst() async throws {
            try await send([0.2, 0.2], start: 0, end: day)
            try await send([0.2, 0.2], start: 0, end: day + 10)
            try await send([0.3], start: 0, end: day + 10, attributes: failures)
            #expect(try await count(from: day, to: day + 10) == 1)
        }

        @Test func firstCollectionOfAnUnknownProcessDoesNotCount() async throws {
            try await send([0.2, 0.2], start: 0, end: day)
            try await send([0.3], start: 0, end: day, attributes: failures)
            #expect(try await count() == 0)
        }

        @Test func processThatBeganAfterTheLastKnownOneCountsInFull() async throws {
            try await send([0.2], start: 0, end: 10)
            try await send([0.2, 0.2], start: 20, end: day)
            #expect(try await count() == 3)
        }

        @Test func senderWithoutAStartCountsFromItsSecondPoint() async throws {
            var points = [OtherMetrics.point([0.2], end: 10), OtherMetrics.point([0.2, 0.2, 0.2], end: 20)]
            for index in points.indices { points[index].startTimeUnixNano = 0 }
            try await send([OtherMetrics.histogram([points[0]])])
            try await send([OtherMetrics.histogram([points[1]])])
            #expect(try await count() == 2)
        }

        /// Specification, "Metrics Data Model", section "Cumulative streams: handling unknown start time".
        @Test func streamThatBeginsWithAPointOfNoLengthHasNoKnownStart() async throws {
            try await send([0.2, 0.2, 0.2], start: 10, end: 10)
            #expect(try await count() == 0)
            try await send([0.2, 0.2, 0.2, 0.2], start: 10, end: 20)
            #expect(try await count() == 1)
            try await send([0.2, 0.2], start: 30, end: 30)
            #expect(try await count() == 1)
        }

        @Test func senderKeepsCountingAfterItsClockWentBack() async throws {
            try await send([0.2], end: 10)
            try await send([0.2, 0.2], end: 500_000)
            try await send([0.2, 0.2, 0.2], end: 30)
            #expect(try await count(from: 20, to: 30) == 1)
            try await send([0.2, 0.2, 0.2, 0.2], end: 40)
            #expect(try await count() == 4)
        }

        @Test func attributesThatAreNotDimensionsDistinguishStreams() async throws {
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

        @Test func scopesWithDifferentAttributesAreSeparateStreams() async throws {
            for round in 1...3 as ClosedRange<UInt64> {
                var counts = [("a", Int(round)), ("b", 10 * Int(round))]
                if round == 2 { counts.reverse() }
                let metrics = counts.map { _, count in
                    [OtherMetrics.histogram([OtherMetrics.point(Array(repeating: 0.2, count: count), end: round * 10)])]
                }
                var request = OtherMetrics.request(scopes: metrics)
                for (index, (tenant, _)) in counts.enumerated() {
                    var attributes = [OTLPKeyValue("tenant", tenant), OTLPKeyValue("region", "north")]
                    if round == 3 { attributes.reverse() }
                    request.resourceMetrics[0].scopeMetrics[index].scope.name = "instrument"
                    request.resourceMetrics[0].scopeMetrics[index].scope.attributes = attributes
                }
                try await OtherMetrics.send(request, to: storage)
                #expect(try await count() == 11 * round)
            }
        }

        @Test func cumulativeSizesCountByTheirIncrease() async throws {
            for (round, sizes) in [(UInt64(1), [100.0]), (2, [100, 50]), (3, [100, 50, 0])] {
                let end = round * 10
                try await send([
                    OtherMetrics.histogram([OtherMetrics.point(sizes.map { _ in 0.2 }, end: end)]),
                    OtherMetrics.histogram(
                        [OtherMetrics.point(sizes, start: 1, end: end)], name: MetricName.serverResponseSize, unit: "By"
                    ),
                ])
            }
            #expect(try await statistics().bytesSent == 150)
            #expect(try await statistics(from: 10, to: 20).bytesSent == 50)
            #expect(try await count() == 3)
        }

        @Test func differenceWithoutBucketsIsAtItsMean() async throws {
            for (values, end) in [([0.2, 0.4], UInt64(10)), ([0.2, 0.4, 1, 3], 20)] {
                try await send([OtherMetrics.histogram([OtherMetrics.point(values, bounds: [], end: end)])])
            }
            let second = try await statistics(from: 10, to: 20).duration
            #expect(second.count == 2)
            #expect(abs(try #require(second.quantile(0.5)) - 2) < 0.01)
        }

        @Test func differenceWithoutBucketsIsAtItsMeanEvenWithinTheEarlierRange() async throws {
            for (values, end) in [([0.2, 7], UInt64(10)), ([0.2, 7, 1, 3], 20)] {
                try await send([OtherMetrics.histogram([OtherMetrics.point(values, bounds: [], end: end)])])
            }
            let second = try await statistics(from: 10, to: 20).duration
            #expect(second.count == 2)
            #expect(abs(try #require(second.quantile(0.5)) - 2) < 0.01)
            #expect(abs(try #require(second.max) - 2) < 0.01)
            #expect(try await statistics(to: 20).duration.max == 7)
        }

        /// Sends values in seconds as the exponential histogram of an SDK; in milliseconds if `unit` is `ms`.
        private func sendExponential(_ values: [Double], scale: Int32, unit: String = "", end: UInt64) async throws {
            var histogram = ExponentialHistogram(scale: scale)
            for value in values { histogram.record(value * (unit == "ms" ? 1000 : 1)) }
            var point = OTLPExponentialHistogramDataPoint(histogram)
            (point.startTimeUnixNano, point.timeUnixNano) = (Samples.time(0), Samples.time(end))
            point.attributes = OtherMetrics.attributes
            var metric = OTLPMetric()
            (metric.name, metric.unit) = (MetricName.serverDuration, unit)
            metric.exponentialHistogram.aggregationTemporality = .cumulative
            metric.exponentialHistogram.dataPoints = [point]
            try await send([metric])
        }

        @Test(arguments: ["", "s", "ms"])
        func exponentialHistogramsAreSubtractedAtTheCoarserScale(unit: String) async throws {
            try await sendExponential([0.001, 0.2, 0.3], scale: 10, unit: unit, end: 10)
            try await sendExponential([0.001, 0.2, 0.3, 0.25, 40], scale: 4, unit: unit, end: 20)
            try await sendExponential([0.001, 0.2, 0.3, 0.25, 40, 0.001], scale: 4, unit: unit, end: 30)
            let second = try await statistics(from: 10, to: 20).duration
            #expect(second.count == 2)
            #expect(second.scale == 4)
            #expect(abs(second.sum - 40.25) < 1e-9)
            #expect(abs(try #require(second.quantile(0.5)) / 0.25 - 1) < 0.05)
            #expect(second.max == 40)
            #expect(try await count() == 6)
        }

        @Test(arguments: [UInt64(1), 2, 3])
        func eachValueCountsOnceAtEveryScale(seed: UInt64) async throws {
            var numbers = SeededGenerator(seed: seed)
            var (values, scale) = ([Double](), Int32(20))
            for round in 1...20 as ClosedRange<UInt64> {
                scale -= Int32.random(in: 0...1, using: &numbers)
                values += (0..<3).map { _ in Double.random(in: 0.2...0.3, using: &numbers) }
                // Skips rounds whose values need too many buckets for the scale.
                guard
                    ExponentialHistogram(values.map { ($0, 1) }, scale: scale, sum: 1, min: nil, max: nil).scale
                        == scale
                else { continue }
                try await sendExponential(values, scale: scale, unit: "ms", end: round * 10)
                #expect(try await count() == values.count, "seed \(seed), round \(round), scale \(scale)")
            }
        }
    }
}
