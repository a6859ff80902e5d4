import Fixtures
import Foundation
import MartletReports
import MartletStorage
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Calls of databases and message brokers, from the spans of a service to the report.
@Suite struct CalledSystemTests {
    @Test func callsOfASpanAreRowsWithTheirSystem() async throws {
        let folder = try TemporaryFolder()
        let collector = try await CollectorProcess(store: folder.path("collector.sqlite"))
        let (status, _, errors) = try await ChildProcess(
            .tracerProgram, ["calls"],
            environment: [
                "MARTLET_SERVICE_NAME": "caller", "MARTLET_SAMPLE_RATE": "1", "MARTLET_ENDPOINT": collector.address,
                "MARTLET_BUFFER_DIR": folder.path("buffer"), "HOME": folder.path("home"), "MARTLET_MAX_CPU": "100%",
            ]
        ).finish()
        #expect(status == 0, "\(errors)")
        let by: [MartletStorage.Dimension] = [.kind, .system, .method, .host, .endpoint]
        let probe = Probe(folder: folder, collector: collector.address)
        let rows = try await probe.report(by.flatMap { ["--by", $0.rawValue] }).rows.map { row in
            "\(by.map(row.shown).joined(separator: " ")): \(row.measures.count), \(row.measures.failures.count) failed"
        }
        #expect(
            rows.sorted() == [
                "client kafka send broker.internal:9092 orders: 5, 0 failed",
                "client postgresql SELECT db.internal:5432 SELECT name FROM users WHERE mail = ?: 20, 3 failed",
                "client valkey GET cache.internal GET: 7, 0 failed",
            ])
        let url = try #require(URL(string: "\(collector.address)/api/v1/requests?since=1h&limit=100"))
        let (body, _) = try await URLSession.shared.data(from: url)
        let text = String(decoding: body, as: UTF8.self)
        #expect(text.contains("SELECT name FROM users") && !text.contains("example.com"))
        _ = await collector.terminate()
    }
}
