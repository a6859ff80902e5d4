import Foundation
import HummingbirdTesting
import MartletReports
import MartletStorage
import MartletTelemetry
import Testing

/// Requests changed by an agent's rules, kept apart from all others.
@Suite struct RuleReportTests {
    private static func body(rules: Int?) throws -> [UInt8] {
        var resource = Samples.resource()
        resource.rules = rules
        var changed = Samples.dimensions(status: 503, error: "503")
        changed.rule = "payments drill"
        return try MetricsBatch(
            resource: resource, start: Samples.time(0), end: Samples.time(10),
            series: [
                Samples.dimensions(): Samples.statistics([1, 2, 3]), changed: Samples.statistics([0.4, 0.4]),
            ], ledger: Ledger(captured: 5)
        ).otlp()
    }

    @Test func ruleDimensionGroupsAndFilters() async throws {
        try await withServer(clock: { Samples.time(60) }) { client in
            _ = try await client.post(try Self.body(rules: 1))
            @Sendable func report(_ query: String) async throws -> Report {
                let response = try await client.get("/api/v1/report?since=1m&\(query)")
                return try ReportJSON.value(of: Report.self, in: Data(buffer: response.body))
            }
            let rows = try await report("by=rule&sort=count").rows
            #expect(rows.map { $0.text(of: .rule) } == ["", "payments drill"])
            #expect(rows.map(\.measures.count) == [3, 2])
            #expect(try await report("rule=payments%20drill").totals.measures.count == 2)
            #expect(try await report("rule=").totals.measures.count == 3)
            let values = try await client.get(
                "/api/v1/values/rule?since=2026-09-21T14:13:20Z&until=2026-09-21T14:15:00Z")
            #expect(String(buffer: values.body).contains("payments drill"))
        }
    }

    @Test func reportWithoutARuleHasTheCountOfChangedRequests() async throws {
        try await withServer { client in
            _ = try await client.post(try Self.body(rules: 1))
            let response = try await client.get("/api/v1/report?since=1m")
            let report = try ReportJSON.value(of: Report.self, in: Data(buffer: response.body))
            #expect(report.rows.map(\.measures.changedByRules) == [2])
            #expect(ReportTable.text(of: report).contains("\n2 of these requests were changed by rules"))
            var named = report
            named.by = [.rule]
            #expect(!ReportTable.text(of: named).contains("were changed by rules"))
            let page = try await client.get("/?since=1m")
            #expect(String(buffer: page.body).contains("Rules changed 2 of 5 requests"))
        }
    }

    @Test func agentsReportTheirActiveRules() async throws {
        try await withServer { client in
            @Sendable func agents() async throws -> AgentsReport {
                let response = try await client.get("/api/v1/agents")
                return try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: response.body))
            }
            _ = try await client.post(try Self.body(rules: 2))
            #expect(try await agents().agents.map(\.rules) == [2])
            #expect(AgentsTable.text(of: try await agents()).contains("2 rules change its requests"))
            let page = try await client.get("/agents")
            #expect(String(buffer: page.body).contains("2 rules in force"))
            _ = try await client.post(try Self.body(rules: nil))
            #expect(try await agents().agents.map(\.rules) == [nil])
            #expect(!AgentsTable.text(of: try await agents()).contains("rules"))
        }
    }
}
