import Fixtures
import Foundation
import HummingbirdTesting
import MartletReports
import MartletSQLiteStorage
import MartletTelemetry
import Testing

@Suite struct ReportAPITests {
    @Test func completenessIsNullIfNobodySent() async throws {
        try await withServer { client in
            let response = try await client.get("/api/v1/report?since=1m")
            let object = try JSONSerialization.jsonObject(with: Data(buffer: response.body))
            let report = try #require(object as? [String: Any])
            #expect(report["completeness"] is NSNull)
            #expect(report["unwatched"] == nil)
        }
    }

    @Test func reportHasTheFixedNames() async throws {
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
                    "apdex", "impact", "last_seen",
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

    /// Every answer about a window has its exact ends, so that its length fits its rates.
    @Test(arguments: ["report", "requests", "series", "process", "map"])
    func windowKeepsFractionsOfSeconds(path: String) async throws {
        try await withServer { client in
            _ = try await client.post(try Samples.body())
            for (from, to) in [
                ("13:20.9", "14:19.1"), ("13:20.25", "13:30"), ("13:20", "13:20.000000001"), ("13:19.999", "14:01.5"),
                ("13:20.123456789", "14:20"),
            ] {
                let window = ["2026-09-21T14:\(from)Z", "2026-09-21T14:\(to)Z"]
                let response = try await client.get("/api/v1/\(path)?since=\(window[0])&until=\(window[1])")
                #expect(response.status == .ok)
                let object = try JSONSerialization.jsonObject(with: Data(buffer: response.body))
                let answer = try #require(object as? [String: Any])
                #expect([answer["from"] as? String, answer["to"] as? String] == window)
            }
        }
    }

    @Test func phasesAndHungRequestsReachTheReport() async throws {
        try await withServer { client in
            var statistics = Samples.statistics([300, 300])
            statistics.phases = Samples.phases([.connect: (1, 0.25), .firstByte: (2, 600)])
            let batch = MetricsBatch(
                resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10),
                series: [
                    Samples.dimensions(status: nil, error: "hung"): statistics,
                    Samples.dimensions(status: nil, error: "cancelled"): Samples.statistics([1]),
                    Samples.dimensions(endpoint: "/plain"): Samples.statistics([1, 1]),
                ], ledger: Ledger(captured: 5, waiting: 5))
            #expect(try await client.post(try batch.otlp()).status == .ok)
            let response = try await client.get("/api/v1/report?since=1m&by=endpoint")
            let report = try #require(
                try JSONSerialization.jsonObject(with: Data(buffer: response.body)) as? [String: Any])
            let rows = try #require(report["rows"] as? [[String: Any]])
            #expect(rows.map { $0["endpoint"] as? String } == ["/users/{id}", "/plain"])
            #expect(rows[0]["phases_ms"] as? [String: Double] == ["connect": 250, "first_byte": 300_000])
            #expect(rows[1]["phases_ms"] as? [String: Double] == [:])
            let failures = try #require(rows[0]["failures"] as? [String: Double])
            #expect(failures.filter { $0.value > 0 && $0.key != "rate" } == ["count": 2, "hung": 2, "cancelled": 1])
        }
    }

    @Test func reportCanBeReadBackFromItsJSON() async throws {
        try await withServer { client in
            _ = try await client.post(try Samples.body())
            let response = try await client.get("/api/v1/report?by=endpoint&by=error&by=status")
            let report = try ReportJSON.value(of: Report.self, in: Data(buffer: response.body))
            #expect(report.rows.map(\.dimensions) == [[.endpoint: "/users/{id}", .error: nil, .status: "200"]])
            #expect(try ReportJSON.text(of: report) == String(buffer: response.body))
        }
    }

    @Test(arguments: [
        "since=someday", "by=colour", "sort=colour", "top=0", "top=x", "colour=red", "since=1h&since=2h",
        "since=20000d",
    ])
    func badParameterIs400WithASentence(query: String) async throws {
        try await withServer { client in
            let response = try await client.get("/api/v1/report?\(query)")
            #expect(response.status == .badRequest)
            let answer = try JSONDecoder().decode([String: String].self, from: Data(buffer: response.body))
            #expect(answer["error"]?.contains(" ") == true)
        }
    }

    @Test func plusMeansABlankExceptInATime() async throws {
        let batch = MetricsBatch(
            resource: Samples.resource("my shop"), start: Samples.time(0), end: Samples.time(10),
            series: [Samples.dimensions(endpoint: "/a+b"): Samples.statistics([1])], ledger: Ledger(captured: 1))
        let body = try batch.otlp()
        try await withServer { client in
            #expect(try await client.post(body).status == .ok)
            for (query, count) in [
                ("service=my+shop", 1), ("service=my%20shop", 1), ("service=my%2Bshop", 0), ("endpoint=/a%2Bb", 1),
                ("endpoint=/a+b", 0), ("service=my+shop&until=2026-09-21T16:13:30+02:00", 1),
            ] as [(String, UInt64)] {
                let response = try await client.get("/api/v1/report?since=2026-09-21T16:13:20%2B02:00&\(query)")
                let report = try ReportJSON.value(of: Report.self, in: Data(buffer: response.body))
                #expect(report.from == "2026-09-21T14:13:20Z")
                #expect(report.totals.measures.count == count, "\(query)")
            }
            let response = try await client.get("/api/v1/agents?since=2026-09-21T16:13:20+02:00")
            let agents = try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: response.body))
            #expect(agents.from == "2026-09-21T14:13:20Z")
        }
    }

    @Test func tooManyOrTooLongParametersAre400() async throws {
        try await withServer { client in
            let names = ["by=host", "host=a", "service=a", "method=a", "endpoint=a"]
            let parameters = names.flatMap { Array(repeating: $0, count: 13) }
            let repeated = Array(repeating: "by=host", count: 17).joined(separator: "&")
            for query in [
                parameters.joined(separator: "&"), repeated, "service=" + String(repeating: "x", count: 1025),
            ] {
                #expect(try await client.get("/api/v1/report?\(query)").status == .badRequest)
            }
            let fewer = parameters.dropLast().joined(separator: "&")
            let taken = try await client.get("/api/v1/report?\(fewer)")
            #expect(taken.status == .ok)
        }
    }

    @Test func agentThatSwitchesItselfOffGivesTheReason() async throws {
        @Sendable func body(_ mode: String, reason: String?, end: UInt64) throws -> [UInt8] {
            var resource = Samples.resource()
            (resource.captureMode, resource.captureReason) = (mode, reason)
            return try MetricsBatch(
                resource: resource, start: Samples.time(end - 10), end: Samples.time(end),
                series: [Samples.dimensions(): Samples.statistics([1])], ledger: Ledger(captured: end / 10)
            ).otlp()
        }
        try await withServer { client in
            @Sendable func agents() async throws -> AgentsReport {
                let response = try await client.get("/api/v1/agents")
                return try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: response.body))
            }
            _ = try await client.post(try body("automatic", reason: nil, end: 10))
            #expect(try await agents().agents.map(\.captureReason) == [nil])
            #expect(AgentsTable.text(of: try await agents()).contains("capture is") == false)
            let reason = "more than 2% of a core\u{1b} " + String(repeating: "é", count: 600)
            _ = try await client.post(try body("off", reason: reason, end: 20))
            let off = try await agents()
            #expect(off.agents.map(\.capture) == ["off"])
            #expect(off.agents.map(\.captureReason) == [String(reason.prefix(524))])
            #expect(
                AgentsTable.text(of: off).contains("\ncheckout i-1: capture is off, more than 2% of a core\\u{1b} é"))
            _ = try await client.post(try body("automatic", reason: nil, end: 30))
            let on = try await agents()
            #expect(on.agents.map(\.capture) == ["automatic"])
            #expect(on.agents.map(\.captureReason) == [nil])
        }
    }

    @Test func agentsAreFilteredByService() async throws {
        try await withServer { client in
            for service in ["checkout", "catalog"] {
                let batch = MetricsBatch(
                    resource: Samples.resource(service), start: Samples.time(0), end: Samples.time(10),
                    series: [Samples.dimensions(): Samples.statistics([1])], ledger: Ledger(captured: 1))
                #expect(try await client.post(try batch.otlp()).status == .ok)
            }
            for (query, services) in [
                ("", ["catalog", "checkout"]), ("?service=catalog", ["catalog"]), ("?environment=other", []),
                ("?version=1.2&service=checkout", ["checkout"]),
            ] as [(String, [String])] {
                let response = try await client.get("/api/v1/agents\(query)")
                let report = try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: response.body))
                #expect(report.agents.map(\.service).sorted() == services, "\(query)")
            }
        }
    }

    @Test func agentsAreListedWithTheirMissingBatches() async throws {
        try await withServer(clock: { Samples.time(11) }) { client in
            @Sendable func agent(after batch: String) async throws -> (agent: AgentsReport.Agent, table: String) {
                _ = try await client.post(try Samples.body(), batch: "i-1/\(batch)/metrics")
                let response = try await client.get("/api/v1/agents")
                let report = try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: response.body))
                return (try #require(report.agents.first), AgentsTable.text(of: report))
            }
            let first = try await agent(after: "4")
            #expect(first.agent.missingBatches == 3)
            #expect(first.agent.overlappingBatches == nil)
            #expect(first.table.split(separator: "\n").map { $0.hasSuffix(" 3") } == [false, true])
            let second = try await agent(after: "1-3")
            #expect(second.agent.missingBatches == 0)
            let third = try await agent(after: "4-5")
            #expect(third.agent.overlappingBatches == 1)
            #expect(third.table.contains("that overlap with earlier ones: 1\n"))
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

    @Test(arguments: ["since=someday", "since=2199-01-01T00:00:00Z", "since=1h&since=2h", "limit=7"])
    func badAgentsParameterIs400WithASentence(query: String) async throws {
        try await withServer { client in
            let response = try await client.get("/api/v1/agents?\(query)")
            #expect(response.status == .badRequest)
            let answer = try JSONDecoder().decode([String: String].self, from: Data(buffer: response.body))
            #expect(answer["error"]?.contains(" ") == true)
        }
    }

    @Test func largeFleetIsListedInPartWithTheNumberOfTheOthers() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("collector.sqlite")
        let storage = try SQLiteStorage(path: path)
        let fleet = (0...AgentsReport.maxAgents).map {
            Samples.metrics(end: 10, resource: Samples.resource(instance: "i-\($0)"))
        }
        _ = try await storage.store(fleet, of: nil)
        try storage.close()
        try await withServer(store: path) { client in
            let response = try await client.get("/api/v1/agents?since=1h")
            let report = try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: response.body))
            #expect(report.from == "2026-09-21T13:14:20Z")
            #expect(report.agents.count == AgentsReport.maxAgents)
            #expect(!report.agents.contains { $0.instance == "i-0" })
            #expect(report.more == 1)
            #expect(
                AgentsTable.text(of: report).hasSuffix(
                    "\nonly the 1000 instances that were seen most recently are shown, of 1001 since 2026-09-21T13:14:20Z\n"
                ))
        }
    }
}
