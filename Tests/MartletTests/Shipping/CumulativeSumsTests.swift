import Fixtures
import Foundation
import MartletOTLP
import MartletTelemetry
import Testing

@testable import Martlet

@Suite struct CumulativeSumsTests {
    /// Returns the body and the id of an interval's batch.
    private func batch(
        _ sequence: UInt64, requests: Int, endpoints: [String] = ["/a"], reason: String? = nil
    ) throws -> (body: [UInt8], id: BatchID) {
        var statistics = RequestStatistics()
        for number in 1...requests {
            statistics.record(seconds: Double(number), bytesSent: 3, bytesReceived: 0, phases: PhaseDurations())
        }
        var resource = TelemetryResource(service: "shop", instance: "i")
        resource.captureReason = reason
        let series = endpoints.map { endpoint in
            (
                RequestDimensions(
                    kind: .client, method: "GET", host: "h", port: 80, endpoint: endpoint, status: 200, error: nil),
                statistics
            )
        }
        let metrics = MetricsBatch(
            resource: resource, start: sequence * 10, end: sequence * 10 + 10,
            series: Dictionary(uniqueKeysWithValues: series), instanceStart: 10, ledger: Ledger())
        return (try metrics.otlp(), BatchID(instance: "i", sequence: sequence, signal: .metrics))
    }

    private func points(of body: [UInt8]) throws -> [OTLPExponentialHistogramDataPoint] {
        try OTLPExportMetricsServiceRequest(serializedBytes: body).resourceMetrics.flatMap(\.scopeMetrics)
            .flatMap(\.metrics).flatMap(\.exponentialHistogram.dataPoints)
    }

    @Test func sumsGrowByEachBatchAndKeepTheirStart() throws {
        var sums: CumulativeSums?
        var uploads: [[UInt8]] = []
        for (sequence, requests) in zip(1...3 as ClosedRange<UInt64>, [2, 3, 4]) {
            // The reason is an attribute of the resource that changes while the process runs.
            let (body, id) = try batch(sequence, requests: requests, reason: sequence == 2 ? "expensive" : nil)
            let (upload, new) = try CumulativeSums.adding(body, of: id, to: sums)
            uploads.append(upload)
            sums = new
        }
        let resources = try uploads.map { try OTLPExportMetricsServiceRequest(serializedBytes: $0).resourceMetrics }
            .map { $0.map(\.resource) }
        // For another resource, other programs would make a second stream that repeats all of the first.
        #expect(Set(resources).count == 1)
        let points = try uploads.flatMap(points)
        #expect(points.map(\.count) == [2, 5, 9])
        #expect(points.map(\.sum) == [3, 9, 19])
        #expect(points.map(\.max) == [2, 3, 4])
        #expect(points.allSatisfy { $0.startTimeUnixNano == 10 })
        #expect(points.map(\.timeUnixNano) == [20, 30, 40])
    }

    /// The journal of a dead process may have a request that ended before its last batch was sealed.
    @Test func batchThatEndedBeforeTheLastOneStillGetsANewerPoint() throws {
        let (last, late) = (try batch(2, requests: 2), try batch(1, requests: 1))
        let sums = try CumulativeSums.adding(last.body, of: last.id, to: nil).sums
        let points = try points(of: CumulativeSums.adding(late.body, of: late.id, to: sums).upload)
        #expect(points.map(\.count) == [3])
        #expect(points.map(\.timeUnixNano) == [31])
        // Sums with another start are those of another process.
        #expect(points.map(\.startTimeUnixNano) == [20])
    }

    /// A process may die after the sums are stored and before the account is.
    @Test func batchAlreadyInTheSumsIsNotAddedAgain() throws {
        let (first, second) = (try batch(1, requests: 2), try batch(2, requests: 3))
        let before = try CumulativeSums.adding(first.body, of: first.id, to: nil).sums
        let (upload, sums) = try CumulativeSums.adding(second.body, of: second.id, to: before)
        let read = try #require(CumulativeSums(file: sums.file()))
        #expect(read == sums)
        let again = try CumulativeSums.adding(second.body, of: second.id, to: read)
        #expect(try points(of: again.upload).map(\.count) == [5])
        #expect(try points(of: again.upload) == points(of: upload))
        #expect(
            try points(of: CumulativeSums.adding(first.body, of: first.id, to: read).upload).map(\.count) == [
                7
            ])
    }

    @Test func batchThatMayHaveArrivedIsInTheSumsOfLaterBatchesSentBeforeIt() throws {
        let (first, second) = (try batch(1, requests: 2), try batch(2, requests: 3))
        let waiting = try CumulativeSums.adding(first.body, of: first.id, to: nil).sums.whileLastWaits
        let read = try #require(CumulativeSums(file: waiting.file()))
        #expect(read == waiting)
        let overtaking = try CumulativeSums.adding(second.body, of: second.id, to: read)
        #expect(try points(of: overtaking.upload).map(\.count) == [5])
        var part = first.id
        part.part = "01"
        let half = try CumulativeSums.adding(first.body, of: part, to: overtaking.sums)
        #expect(try points(of: half.upload).map(\.count) == [5])
        let again = try CumulativeSums.adding(first.body, of: first.id, to: overtaking.sums)
        #expect(try points(of: again.upload).map(\.count) == [5])
        #expect(try points(of: again.upload).map(\.timeUnixNano) == [30])
        // It has arrived now, and no other batch has its id.
        let third = try batch(3, requests: 1)
        let next = try CumulativeSums.adding(third.body, of: third.id, to: again.sums)
        #expect(try points(of: next.upload).map(\.count) == [6])
        let other = try CumulativeSums.adding(first.body, of: first.id, to: next.sums)
        #expect(try points(of: other.upload).map(\.count) == [8])
    }

    @Test func damagedFileHasNoSums() throws {
        let (body, id) = try batch(1, requests: 1)
        var file = try CumulativeSums.adding(body, of: id, to: nil).sums.file()
        file[file.count / 2] ^= 1
        #expect(CumulativeSums(file: file) == nil)
        #expect(CumulativeSums(file: []) == nil)
    }

    @Test func sumsAboveTheLimitRestartWithANewStart() throws {
        let long = String(repeating: "x", count: 2000)
        let many = try batch(1, requests: 1, endpoints: (1...1000).map { "/\($0)/\(long)" })
        let sums = try CumulativeSums.adding(many.body, of: many.id, to: nil).sums
        #expect(sums.size > MartletLimits.sums)
        let next = try batch(2, requests: 2)
        let points = try points(of: CumulativeSums.adding(next.body, of: next.id, to: sums).upload)
        #expect(points.map(\.count) == [2])
        #expect(points.map(\.startTimeUnixNano) == [20])
    }

    @Test func processThatDeliversADeadInstancesBatchesContinuesItsSums() throws {
        let folder = try TemporaryFolder()
        let (body, id) = try batch(1, requests: 2)
        let sums = try CumulativeSums.adding(body, of: id, to: nil).sums
        var outbox = try Outbox.create(instance: "i", in: folder.url)
        try outbox.store([1], as: BatchFile(sequence: 2, signal: .metrics, requests: 1, isCompressed: false, body: [1]))
        outbox.keep(sums)
        outbox.close()
        guard let adopted = Outbox.adopt(instance: "i", in: folder.url) else { return #expect(Bool(false)) }
        #expect(adopted.sums == sums)
        adopted.close()
    }
}
