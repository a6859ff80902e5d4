import Fixtures
import Foundation
import MartletReports
import Testing

/// Martlet's collector takes cumulative points as it takes deltas.
@Suite struct TemporalityTests {
    @Test(arguments: ["delta", "cumulative"])
    func reportIsTheSameUnderEitherTemporality(temporality: String) async throws {
        let folder = try TemporaryFolder()
        let shop = ShopServer()
        let collector = try await CollectorProcess(store: folder.path("collector.sqlite"))
        let probe = Probe(folder: folder, collector: collector.address)
        try await shop.run { server in
            let process = try probe.start(server, requests: 50, environment: ["MARTLET_TEMPORALITY": temporality])
            let result = try await probe.finish(process)
            #expect(result.captured == 300)
            #expect(result.delivered == 300)
            let report = try await settled {
                try await probe.report(["--by", "endpoint"])
            } until: { report in
                report.totals.measures.count == 300
            }
            #expect(report.completeness == 1)
            #expect(Set(report.rows.map(\.measures.count)) == [50])
            #expect(report.totals.measures.failures.count == 150)
            let posted = try #require(report.rows.first { $0.shown(.endpoint) == "/posted" })
            #expect(posted.measures.bytes.sent == (0..<50).reduce(0) { $0 + UInt64(100 + $1) })
        }
    }
}
