import Fixtures
import HummingbirdTesting
import MartletPrometheus
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// The agents on `GET /metrics`.
@Suite struct AgentMetricsTests {
    private static let labels = """
        service_name="checkout",deployment_environment_name="test",service_version="1.2",service_instance_id="i-1",\
        host_name="web-1"
        """

    /// Returns a batch of an agent that captured 100 requests.
    private func body(capture: String = "automatic", unwatched: UInt64 = 0) throws -> [UInt8] {
        var resource = Samples.resource()
        resource.captureMode = capture
        let batch = MetricsBatch(
            resource: resource, start: Samples.time(0), end: Samples.time(10),
            series: [Samples.dimensions(): Samples.statistics([0.1, 0.1])],
            ledger: Ledger(captured: 100, delivered: 80, waiting: 13, dropped: [.bufferFull: 6, .rejected: 1]),
            captureGap: unwatched, agentCPU: 2_500_000_000)
        return try batch.otlp()
    }

    @Test func agentLedgerIsOnThePage() async throws {
        try await withServer(clock: { Samples.time(30) }) { client in
            #expect(try await client.post(try body(), batch: "i-1/3/metrics").status == .ok)
            let page = try await client.page()
            for (name, value) in [
                ("captured_requests_total", 100), ("delivered_requests", 82), ("waiting_requests", 11),
                ("last_seen_timestamp_seconds", 1_790_000_030), ("missing_batches", 2), ("capturing", 1),
                ("cpu_seconds_total", 2.5),
            ] as [(String, Double)] {
                #expect(page.value("martlet_agent_\(name){\(Self.labels)}") == value, "\(name)")
            }
            let dropped = "martlet_agent_dropped_requests_total{\(Self.labels),reason="
            #expect(page.value("\(dropped)\"buffer_full\"}") == 6)
            #expect(page.value("\(dropped)\"rejected\"}") == 1)
            let info = "martlet_agent_info{\(Self.labels),agent=\"martlet 0.1.0\",capture=\"automatic\"}"
            #expect(page.value(info) == 1)
            #expect(page.value("martlet_collector_agents") == 1)
            #expect(page.value("martlet_collector_agents_left_out") == 0)
        }
    }

    @Test func agentThatDoesNotCaptureIsMarked() async throws {
        try await withServer { client in
            let body = try body(capture: "off", unwatched: 90_000_000_000)
            #expect(try await client.post(body).status == .ok)
            let page = try await client.page()
            #expect(page.value("martlet_agent_capturing{\(Self.labels)}") == 0)
            #expect(page.value("martlet_agent_unwatched_seconds_total{\(Self.labels)}") == 90)
        }
    }

    @Test func otherSDKHasNoLedgerAndNoMode() async throws {
        var resource = Samples.resource()
        (resource.agent, resource.captureMode) = ("opentelemetry 1.38", nil)
        let record = AgentRecord(resource: resource, firstSeen: 0, lastSeen: Samples.time(1), ledger: nil, gaps: nil)
        let lines = PrometheusAgents.text(of: AgentsAnswer(agents: [record], more: 0)).split(separator: "\n")
        let names = lines.filter { $0.hasPrefix("martlet_agent_") }.compactMap { $0.split(separator: "{").first }
        #expect(names == ["martlet_agent_info", "martlet_agent_last_seen_timestamp_seconds"])
    }

    @Test(arguments: [(seconds: UInt64(3599), isListed: true), (3601, false)])
    func senderLeavesThePageAfterASilentHour(_ silence: (seconds: UInt64, isListed: Bool)) async throws {
        try await withServer(clock: { Samples.time(0) }, now: { Samples.time(silence.seconds) }) { client in
            #expect(try await client.post(try body()).status == .ok)
            let page = try await client.page()
            #expect(page.lines.contains { $0.hasPrefix("martlet_agent_info{") } == silence.isListed)
        }
    }

    @Test func sendersPastTheLimitAreCounted() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("collector.sqlite")
        let storage = try SQLiteStorage(path: path, now: { Samples.time(60) })
        let senders = (0...PrometheusAgents.maxAgents).map { number in
            Samples.metrics(end: 10, resource: Samples.resource(instance: "i-\(number)"))
        }
        _ = try await storage.store(senders, of: nil)
        try storage.close()
        try await withServer(store: path) { client in
            let page = try await client.page()
            let listed = page.lines.count { $0.hasPrefix("martlet_agent_info{") }
            #expect(listed == PrometheusAgents.maxAgents)
            #expect(page.value("martlet_collector_agents") == Double(listed))
            #expect(page.value("martlet_collector_agents_left_out") == 1)
        }
    }

    /// Prometheus refuses a page with two samples of the same name and labels.
    @Test func namesThatDifferOnlyInControlCharactersAreOneSample() throws {
        let ledger = LedgerReading(time: 1, captured: 3, dropped: ["a\u{1}": 1, "a\u{2}": 2])
        let records = ["i\u{1}", "i\u{2}"].map { instance in
            AgentRecord(
                resource: Samples.resource(instance: instance), firstSeen: 0, lastSeen: 0, ledger: ledger, gaps: nil)
        }
        let lines = PrometheusAgents.text(of: AgentsAnswer(agents: records, more: 0)).split(separator: "\n")
        #expect(Set(lines).count == lines.count)
        let dropped = lines.filter { $0.hasPrefix("martlet_agent_dropped_requests_total{") }
        #expect(dropped.count == 1)
        #expect(dropped.allSatisfy { $0.hasSuffix("reason=\"a\u{FFFD}\"} 3") })
        #expect(lines.contains("martlet_collector_agents_left_out 1"))
    }
}
