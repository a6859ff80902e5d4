import Fixtures
import Foundation
import HummingbirdTesting
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@Suite struct AgentListTests {
    /// The page is loaded at `Samples.time(60)`.
    private static func batch(
        _ service: String = "shop", instance: String, end: UInt64, requests: Int = 1, ledger: Ledger,
        _ change: (inout TelemetryResource) -> Void = { _ in }
    ) throws -> [UInt8] {
        var resource = Samples.resource(service, instance: instance)
        change(&resource)
        return try MetricsBatch(
            resource: resource, start: Samples.time(end) - 10_000_000_000, end: Samples.time(end),
            series: [Samples.dimensions(): Samples.statistics(Array(repeating: 0.1, count: requests))], ledger: ledger
        ).otlp()
    }

    @Test func agentsSeenInTheLastMinuteAreListedWithTheirLedgers() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(
                try Self.batch(
                    instance: "i-1", end: 50, requests: 3, ledger: Ledger(captured: 10, delivered: 2, waiting: 8)))
            _ = try await client.post(
                try Self.batch(
                    instance: "i-2", end: 50, ledger: Ledger(captured: 5, waiting: 1, dropped: [.bufferFull: 4])))
            let page = try await client.read("/agents")
            #expect(page.status == 200)
            #expect(page.text.contains("All 2 agents reported in the last minute"))
            #expect(page.links.contains("/endpoint?service=shop"))
            #expect(page.text.contains("captured 15 = delivered 6 + waiting 5 + dropped 4 40.00 % has arrived"))
            #expect(
                page.text.contains("i-1 shop 1.2, test martlet 0.1.0 on web-1 automatic unknown 10 5 5 0 50.00 %"))
            #expect(
                page.text.contains(
                    "i-2 shop 1.2, test martlet 0.1.0 on web-1 automatic unknown 5 1 0 4 buffer_full 20.00 %"))
            #expect(page.text.contains("i-2 needs attention i-2 dropped 4 buffer_full."))
            #expect(page.text.contains("martlet-collector agents JSON"))
            #expect(page.links.contains("/api/v1/agents"))
        }
    }

    @Test func agentWhoseProcessEndedWithoutAShutdownSaysWhy() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            let ends = [Samples.end(of: "i-1"), InstanceEnd(instance: "i-2", cause: .clean, time: Samples.time(8))]
            for end in ends {
                let resource = Samples.resource(instance: end.instance)
                _ = try await client.post(try Samples.batch([end], from: resource).otlp())
            }
            let sentence =
                "ended without shutdown at 2026-09-21T14:13:27Z: SIGILL at main.swift:41, during GET /files/{name}"
            #expect(try await client.read("/agents").text.contains("i-1 needs attention i-1 \(sentence)."))
            let answer = try await client.get("/api/v1/agents")
            let report = try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: answer.body))
            let causes = Dictionary(uniqueKeysWithValues: report.agents.map { ($0.instance, $0.ended?.cause) })
            #expect(causes == ["i-1": "signal", "i-2": "clean"])
            #expect(AgentsTable.text(of: report).contains("checkout i-1: \(sentence)\n"))
        }
    }

    @Test(
        arguments: [
            (2, "Each agent keeps a ledger, so missing requests are counted."),
            (1, "1 of 2 keep a ledger; missing requests of the others are not counted."),
            (0, "None of them keeps a ledger, so missing requests are not counted."),
        ])
    func pageSaysHowManyAgentsKeepALedger(ledgers: Int, sentence: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("collector.sqlite")
        let storage = try SQLiteStorage(path: path, now: { Samples.time(58) })
        for sender in 0..<2 {
            let ledger = LedgerReading(time: Samples.time(50), captured: 1)
            let metrics = InstanceMetrics(
                resource: Samples.resource("shop", instance: "i-\(sender)"), points: [],
                ledger: sender < ledgers ? ledger : nil)
            _ = try await storage.store([metrics], of: nil)
        }
        try storage.close()
        try await withServer(store: path, clock: { Samples.time(58) }) { client in
            let page = try await client.read("/agents").text
            #expect(page.contains(sentence), "\(page)")
        }
    }

    @Test func silentAgentsAreCounted() async throws {
        let clock = Clock()
        try await withServer(clock: { clock.time }) { client in
            for (instance, seconds) in [("i-1", 1), ("i-2", 2), ("i-3", 58)] as [(String, UInt64)] {
                clock.time = Samples.time(seconds) - 30_000_000_000
                if instance == "i-3" { clock.time = Samples.time(seconds) }
                _ = try await client.post(try Self.batch(instance: instance, end: 0, ledger: Ledger(captured: 1)))
            }
            let page = try await client.read("/agents")
            #expect(page.text.contains("2 of 3 agents have been silent for more than a minute"))
            #expect(page.text.contains("An agent is also silent when its process has ended."))
        }
    }

    @Test func tenAgentsAreNamedAndTheOthersCounted() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            for number in 1...11 {
                let ledger = Ledger(captured: 4, dropped: [.bufferFull: 4])
                _ = try await client.post(try Self.batch(instance: "i-\(number)", end: 50, ledger: ledger))
                guard number >= 10 else { continue }
                let page = try await client.read("/agents")
                #expect(page.text.contains("\(number) agents need attention"))
                #expect(page.text.contains("And 0 more.") == false)
                #expect(page.text.contains("And 1 more.") == (number == 11))
            }
        }
    }

    @Test func clockThatIsAheadIsReported() async throws {
        try await withServer(clock: { Samples.time(20) }) { client in
            _ = try await client.post(try Self.batch(instance: "i-1", end: 58, ledger: Ledger(captured: 1)))
            let page = try await client.read("/agents")
            #expect(page.text.contains("+38.0 s ahead"))
            #expect(page.text.contains("i-1 its clock is at least 38.0 s ahead of the collector's."))
            let response = try await client.get("/api/v1/agents")
            let report = try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: response.body))
            #expect(report.agents.map(\.clockSeconds) == [38])
            #expect(AgentsTable.text(of: report).contains("shop i-1: its clock is at least 38.0 s ahead"))
        }
    }

    @Test(arguments: ["kind=client", "host=a", "status=5xx", "failed=true", "search=x"])
    func filterByARequestDimensionIsRefused(filter: String) async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            let page = try await client.read("/agents?service=shop&\(filter)")
            #expect(page.status == 400)
            #expect(
                page.text.contains(
                    "is no filter of the list of agents, which has only service, environment, version and instance"))
            #expect(page.links.contains("?service=shop"))
        }
    }

    @Test(arguments: [
        ("", "last 24h"), ("?since=1h", "last 24h"), ("?since=3d", "last 3d"),
        ("?since=3d&until=2d&service=shop", "last 3d, shop"),
    ])
    func titleContainsTheTimeRangeOfTheList(query: String, title: String) async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            let page = try await client.read("/agents\(query)")
            #expect(page.markup.contains("<title>Agents: \(title)"))
        }
    }

    @Test func filterLeavesOutOtherServices() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            for service in ["shop", "stock"] {
                _ = try await client.post(
                    try Self.batch(service, instance: "of-\(service)", end: 50, ledger: Ledger(captured: 1)))
            }
            let page = try await client.read("/agents?service=stock")
            #expect(page.text.contains("The agent reported in the last minute"))
            #expect(page.text.contains("of-stock"))
            #expect(!page.text.contains("of-shop"))
        }
    }

    @Test func pageWithoutAgentsSaysSo() async throws {
        try await withServer { client in
            let page = try await client.read("/agents?since=2d")
            #expect(page.status == 200)
            #expect(page.text.contains("No agents have reported yet"))
            #expect(page.text.contains("martlet-collector agents --since 2d"))
            #expect(page.links.contains("/api/v1/agents?since=2d"))
        }
    }

    @Test func agentNamesCannotBecomeMarkup() async throws {
        let hostile = "<\u{600}b onload=\"x\">\u{202e}"
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(
                try Self.batch(hostile, instance: hostile, end: 50, ledger: Ledger(captured: 1)) {
                    ($0.version, $0.host, $0.captureMode) = (hostile, hostile, hostile)
                    ($0.captureReason, $0.agent, $0.environment) = (hostile, hostile, hostile)
                })
            let page = try await client.read("/agents")
            #expect(page.status == 200)
            #expect(!page.markup.contains("<b onload"))
            #expect(!page.shown.unicodeScalars.contains("\u{202e}"))
            #expect(page.markup.range(of: "<\u{600}b", options: .literal) == nil)
        }
    }

    @Test func badParameterReturns400WithASentence() async throws {
        try await withServer { client in
            let page = try await client.read("/agents?since=someday")
            #expect(page.status == 400)
            #expect(page.text.contains("since must be a time"))
        }
    }
}
