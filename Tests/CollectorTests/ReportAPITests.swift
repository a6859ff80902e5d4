import Foundation
import HummingbirdTesting
import MartletReports
import Testing

@Suite struct ReportAPITests {
    @Test func theReportHasTheFixedNames() async throws {
        try await withServer { client in
            _ = try await client.post(try Samples.body())
            let response = try await client.get("/api/v1/report?since=1m&by=endpoint,status")
            let object = try JSONSerialization.jsonObject(with: Data(buffer: response.body))
            let report = try #require(object as? [String: Any])
            #expect(report["from"] as? String == "2026-09-21T14:13:20Z")
            #expect(report["to"] as? String == "2026-09-21T14:14:20Z")
            #expect(report["by"] as? [String] == ["endpoint", "status"])
            #expect(report["completeness"] as? Double == 1)
            let row = try #require((report["rows"] as? [[String: Any]])?.first)
            #expect(row["endpoint"] as? String == "/users/{id}")
            #expect(row["status"] as? Int == 200)
            #expect(
                Set(row.keys) == [
                    "endpoint", "status", "count", "per_second", "failures", "latency_ms", "phases_ms", "bytes",
                    "apdex", "impact",
                ])
            #expect(
                Set(try #require(row["failures"] as? [String: Any]).keys) == [
                    "count", "rate", "transport", "http_4xx", "http_5xx", "hung", "cancelled",
                ])
            #expect(
                Set(try #require(row["latency_ms"] as? [String: Any]).keys) == [
                    "mean", "p50", "p75", "p90", "p95", "p99", "max",
                ])
            let totals = try #require(report["totals"] as? [String: Any])
            #expect(totals["count"] as? Int == 5)
            #expect(totals["endpoint"] == nil)
        }
    }

    @Test func aReportComesBackFromItsJSON() async throws {
        try await withServer { client in
            _ = try await client.post(try Samples.body())
            let response = try await client.get("/api/v1/report?by=endpoint&by=error&by=status")
            let report = try ReportJSON.value(of: Report.self, in: Data(buffer: response.body))
            #expect(report.rows.map(\.dimensions) == [[.endpoint: "/users/{id}", .error: nil, .status: "200"]])
            #expect(try ReportJSON.text(of: report) == String(buffer: response.body))
        }
    }

    @Test(arguments: [
        "since=yesterday", "by=colour", "sort=colour", "top=0", "top=x", "colour=red", "since=1h&since=2h",
    ])
    func aBadParameterIs400WithASentence(query: String) async throws {
        try await withServer { client in
            let response = try await client.get("/api/v1/report?\(query)")
            #expect(response.status == .badRequest)
            let answer = try JSONDecoder().decode([String: String].self, from: Data(buffer: response.body))
            #expect(answer["error"]?.contains(" ") == true)
        }
    }

    @Test func agentsAreListedWithTheirLedger() async throws {
        try await withServer { client in
            _ = try await client.post(try Samples.body())
            let response = try await client.get("/api/v1/agents")
            let report = try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: response.body))
            let agent = try #require(report.agents.first)
            #expect(report.agents.count == 1)
            #expect([agent.service, agent.instance, agent.version, agent.host] == ["checkout", "i-1", "1.2", "web-1"])
            #expect([agent.capture, agent.agent] == ["automatic", "martlet 0.1.0"])
            let ledger = try #require(agent.ledger)
            #expect([ledger.captured, ledger.delivered, ledger.waiting] == [5, 5, 0])
        }
    }
}
