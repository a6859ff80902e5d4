import Fixtures
import Foundation
import MartletReports
import MartletStorage
import Testing

/// A drill on a service: its rules, its report and its server.
@Suite struct RulesTests {
    @Test func drillIsReportedSeparatelyAndItsRequestsReachNoServer() async throws {
        let folder = try TemporaryFolder()
        let collector = try await CollectorProcess(store: folder.path("collector.sqlite"))
        let probe = Probe(folder: folder, collector: collector.address)
        let shop = ShopServer()
        let rules = """
            {
              rules: [
                { name: "orders drill", match: { path: "/orders/{id}/items" }, respond: { status: 503 } },
              ],
            }
            """
        try Data(rules.utf8).write(to: URL(fileURLWithPath: folder.path("rules.json5")))
        try await shop.run { server in
            let process = try probe.start(
                server, requests: 20, environment: ["MARTLET_RULES": folder.path("rules.json5")])
            let result = try await probe.finish(process)
            #expect(result.captured == 120)
        }
        #expect(!shop.answered.keys.contains { $0.contains("/orders/") })
        let rows = try await probe.report(["--by", "rule", "--by", "endpoint", "--by", "status"]).rows
        let drilled = rows.filter { $0.text(of: .rule) == "orders drill" }
        #expect(drilled.map { $0.text(of: .endpoint) } == ["/orders/{id}/items"])
        #expect(drilled.map { $0.text(of: .status) } == ["503"])
        #expect(drilled.map(\.measures.count) == [20])
        let other = try await probe.report(["--rule", ""])
        #expect(other.totals.measures.count == 100)
        #expect(try await probe.report().totals.measures.changedByRules == 20)
        _ = await collector.terminate()
    }
}
