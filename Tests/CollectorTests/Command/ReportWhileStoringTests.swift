import Fixtures
import Foundation
import MartletOTLP
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Storing does not wait for a report, and the report leaves out batches that are stored meanwhile.
@Suite(.timeLimit(.minutes(5))) struct ReportWhileStoringTests {
    private enum Event {
        case stored(status: Int)
        case reported(hours: Int, seconds: Int)
    }

    private static let hour: UnixNanoseconds = 3_600_000_000_000
    private let folder: TemporaryFolder
    private let now = SystemClock.now()

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func batchesAreStoredDuringAConsistentReport() async throws {
        let store = folder.path("collector.sqlite")
        try await fill(store)
        let collector = try await CollectorProcess(store: store)
        let body = try batch()
        var (sent, acknowledged, storedBehindItsBack) = (0, 0, 0)
        // The loop ends after a report during which at least three batches were stored.
        while storedBehindItsBack < 3 {
            try await withThrowingTaskGroup(of: Event.self) { group in
                func post() {
                    sent += 1
                    group.addTask { [sent] in
                        .stored(status: try await collector.post(body, batch: "i-1/\(sent)/metrics"))
                    }
                }
                let before = acknowledged
                group.addTask { try await report(from: collector) }
                post()
                var isReported = false
                while let event = try await group.next() {
                    switch event {
                    case .stored(let status):
                        #expect(status == 200)
                        acknowledged += 1
                        if !isReported { post() }
                    case .reported(let hours, let seconds):
                        isReported = true
                        #expect(hours == seconds)
                        #expect((before...sent).contains(hours))
                        storedBehindItsBack = max(storedBehindItsBack, acknowledged - hours)
                    }
                }
            }
        }
        let last = try await report(from: collector)
        guard case .reported(acknowledged, acknowledged) = last else {
            Issue.record("of \(acknowledged) acknowledged batches there are \(last)")
            return
        }
    }

    /// Fills the store, so that a report takes longer than a batch.
    private func fill(_ path: String) async throws {
        let storage = try SQLiteStorage(path: path)
        let statistics = Samples.statistics((1...20).map { 0.001 * Double($0 * $0) })
        for hour in 1...300 {
            let end = now / Self.hour * Self.hour - UInt64(hour) * Self.hour
            let points = (0..<150).map { endpoint in
                RequestPoint(
                    dimensions: Samples.dimensions(endpoint: "/others/\(endpoint)"), start: end - Self.hour, end: end,
                    statistics: statistics)
            }
            _ = try await storage.store([InstanceMetrics(resource: Samples.resource("other"), points: points)], of: nil)
        }
        try storage.close()
    }

    /// Returns a batch of one request in a point of an hour and one request in a point of ten seconds. A report reads all hours
    /// first.
    private func batch() throws -> [UInt8] {
        try [("/hours", Self.hour), ("/seconds", 10_000_000_000)].flatMap { endpoint, length in
            try MetricsBatch(
                resource: Samples.resource(), start: now - length, end: now,
                series: [Samples.dimensions(endpoint: endpoint): Samples.statistics([0.1])],
                ledger: Ledger(captured: 0)
            ).otlp()
        }
    }

    private func report(from collector: CollectorProcess) async throws -> Event {
        let url = try #require(URL(string: collector.address + "/api/v1/report?since=30d&by=endpoint"))
        let (body, _) = try await URLSession.shared.data(from: url)
        let rows = try ReportJSON.value(of: Report.self, in: body).rows
        func count(of endpoint: String) -> Int {
            Int(rows.first { $0.dimensions[.endpoint] == endpoint }?.measures.count ?? 0)
        }
        return .reported(hours: count(of: "/hours"), seconds: count(of: "/seconds"))
    }
}
