import Fixtures
import Foundation
import HummingbirdTesting
import MartletIntake
import MartletOTLP
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

/// The ledger that `agents` shows. Each batch carries a ledger written before its own delivery.
@Suite struct LedgerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func requestsOfStoredBatchesCountAsDeliveredEvenIfTheirLedgersSayWaiting() async throws {
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
        // During an outage, the agent sealed both batches before it delivered the first.
        try await store(requests: 10, LedgerReading(time: 10, captured: 10, waiting: 10), in: storage)
        try await store(requests: 5, LedgerReading(time: 20, captured: 15, waiting: 15), in: storage)
        #expect(try await ledger(storage) == LedgerReading(time: 20, captured: 15, delivered: 15))
    }

    @Test func deliveriesToAnotherCollectorAreTakenFromTheAgentsLedger() async throws {
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
        var reading = LedgerReading(
            time: 10, captured: 120, delivered: 100, waiting: 13, dropped: ["buffer_full": 5, "not known here": 2])
        try await store(requests: 5, reading, in: storage)
        (reading.delivered, reading.waiting) = (105, 8)
        #expect(try await ledger(storage) == reading)
    }

    @Test func clockSetBackDoesNotRestoreAnOldAccount() async throws {
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
        try await store(requests: 10, LedgerReading(time: 3600, captured: 10, waiting: 10), in: storage)
        try await store(requests: 5, LedgerReading(time: 10, captured: 16, waiting: 6), in: storage)
        #expect(try await ledger(storage) == LedgerReading(time: 10, captured: 16, delivered: 15, waiting: 1))
    }

    /// Returns a ledger as an agent sends it, with these losses by reason.
    private func body(_ reasons: [(String?, Int64)]) throws -> [UInt8] {
        let batch = MetricsBatch(
            resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10), series: [:],
            ledger: Ledger(captured: 1000, dropped: [.rejected: 1]))
        var request: OTLPExportMetricsServiceRequest = try .init(serializedBytes: batch.otlp())
        for (reason, requests) in reasons {
            var point = OTLPNumberDataPoint()
            point.timeUnixNano = batch.end
            point.attributes = [OTLPKeyValue(AttributeName.ledgerState, LedgerState.dropped)]
            if let reason { point.attributes.append(OTLPKeyValue(AttributeName.ledgerReason, reason)) }
            point.asInt = requests
            request.resourceMetrics[0].scopeMetrics[0].metrics[0].sum.dataPoints.append(point)
        }
        return try request.serializedBytes()
    }

    @Test func anyReasonForLossIsShown() async throws {
        let body = try body([("of tomorrow\u{1b}", 5), (nil, 2)])
        try await withServer { client in
            #expect(try await client.post(body).status == .ok)
            let response = try await client.get("/api/v1/agents")
            let report = try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: response.body))
            let dropped = try #require(report.agents.first?.ledger?.dropped)
            #expect(dropped == ["rejected": 1, "of tomorrow\u{1b}": 5, "other": 2])
            #expect(
                AgentsTable.text(of: report).contains(
                    "\ncheckout i-1: dropped 5 of tomorrow\\u{1b}, 2 other, 1 rejected\n"))
        }
    }

    @Test func timeWithoutCaptureIsShown() async throws {
        let batch = MetricsBatch(
            resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10), series: [:],
            ledger: Ledger(captured: 1000), captureGap: 150_000_000_000)
        try await withServer { client in
            #expect(try await client.post(batch.otlp()).status == .ok)
            let response = try await client.get("/api/v1/agents")
            let report = try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: response.body))
            #expect(report.agents.first?.unwatchedSeconds == 150)
            #expect(
                AgentsTable.text(of: report).contains(
                    "\ncheckout i-1: capture was off for 2.5 min since the process started\n"))
        }
    }

    @Test func longReasonIsCutAndManyReasonsLoseNoRequest() throws {
        let long = String(repeating: "é", count: 40)
        let many = (0..<100).map { ("reason \($0)", Int64(2)) }
        let taken = try Intake().metrics(try body([(long, 3), (long + "!", 4)] + many), encoding: .identity)
        let dropped = try #require(taken.values.first?.ledger?.dropped)
        #expect(dropped[String(long.prefix(32))] == 7)
        #expect(dropped.count == 33)
        // The agent itself dropped one request as `rejected`.
        #expect(dropped.values.reduce(0, +) == 208)
    }

    @Test func accountsWithImpossibleCountsDoNotStopTheOthers() async throws {
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
        for time in [10, 10, 20, 30, 40] as [UInt64] {
            var metrics = Samples.metrics(requests: 1, captured: .max, end: 10)
            metrics.ledger = LedgerReading(time: time, captured: .max)
            metrics.points[0].statistics.duration = try #require(
                ExponentialHistogram(
                    scale: 0, sum: 1, min: nil, max: nil, zeroCount: 0, offset: 0, buckets: [1 << 62]))
            _ = try await storage.store([metrics], of: nil)
        }
        #expect(try await ledger(storage) != nil)
    }

    private func store(requests: Int, _ reading: LedgerReading, in storage: SQLiteStorage) async throws {
        var metrics = Samples.metrics(requests: requests, captured: reading.captured, end: 10)
        metrics.ledger = reading
        _ = try await storage.store([metrics], of: nil)
    }

    private func ledger(_ storage: SQLiteStorage) async throws -> LedgerReading? {
        try await storage.agents().first?.ledger
    }
}
