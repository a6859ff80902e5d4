import Fixtures
import Foundation
import Testing

/// Reports stay complete when the collector goes away or the service is killed.
@Suite(
    .serialized, .disabled(if: TestedStore.isClickHouse, "batches of 100 ms wait longer for it; see ClickHouseTests"))
struct OutageTests {
    let folder: TemporaryFolder
    let shop = ShopServer()

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func collectorMissesNothingAfterAnOutage() async throws {
        let store = folder.path("collector.sqlite")
        let first = try await CollectorProcess(store: store)
        let probe = Probe(folder: folder, collector: first.address)
        try await shop.run { server in
            let service = try probe.start(server, requests: 150)
            await shop.awaitAnswers(100)
            await first.kill()
            await shop.awaitAnswers(350)
            let second = try await shop.hold { try await CollectorProcess(store: store, port: first.port) }
            let result = try await probe.finish(service)
            #expect(result.captured == 900)
            #expect(result.delivered == 900)
            let report = try await probe.report()
            #expect(report.totals.measures.count == 900)
            #expect(report.completeness == 1)
            withExtendedLifetime(second) {}
        }
    }

    @Test func nextStartDeliversTheBatchesOfAKilledService() async throws {
        let store = folder.path("collector.sqlite")
        let away = try await CollectorProcess(store: store)
        await away.kill()
        let probe = Probe(folder: folder, collector: away.address)
        try await shop.run { server in
            let killed = try probe.start(server, requests: 400, environment: ["MARTLET_INTERVAL": "100ms"])
            await shop.awaitAnswers(300)
            await killed.stop(with: SIGKILL)
            let answered = UInt64(shop.answered.values.reduce(0, +))
            #expect(sealedRequests() > 0)

            let back = try await CollectorProcess(store: store, port: away.port)
            let result = try await probe.finish(try probe.start(server, requests: 10))
            #expect(result.captured == 60)
            let report = try await probe.report()
            // At most eight requests of the killed service are missing: their answers were in flight.
            #expect((60 + answered - 8...60 + answered).contains(report.totals.measures.count))
            #expect(report.completeness == 1)
            #expect(sealedRequests() == 0)
            #expect(!folder.contents().contains { $0.hasSuffix(".journal") })
            withExtendedLifetime(back) {}
        }
    }

    /// Returns the number of requests in the outbox's metrics batches, by the names of their files.
    private func sealedRequests() -> UInt64 {
        folder.contents().filter { $0.hasSuffix(".otlp.gz") && $0.contains("-metrics-") }
            .compactMap { $0.split(separator: "-metrics-").last?.split(separator: "-").first.flatMap { UInt64($0) } }
            .reduce(0, +)
    }
}
