import Foundation
import HummingbirdTesting
import MartletReports
import MartletTelemetry
import Testing

/// The processes of services on the API, the page and `/metrics`.
@Suite struct ProcessAPITests {
    /// Returns a batch of a process that used `cores` for 100 s, while its requests waited for answers.
    private static func body(
        _ service: String = "checkout", instance: String = "i-1", cores: Double, isBusy: Bool = false
    ) throws -> [UInt8] {
        var resource = Samples.resource(service, instance: instance)
        resource.runtime = "swift 6.3"
        var requests = Samples.statistics([1, 1, 1])
        if isBusy { requests.phases = Samples.phases([.connect: (3, 0.1), .firstByte: (3, 95)]) }
        var process = ProcessStatistics()
        process.counts = [.cpuUser: UInt64(cores * 80e9), .cpuSystem: UInt64(cores * 20e9)]
        process.covered = 100_000_000_000
        process.add(84 << 20, of: .residentMemory)
        process.add(14, of: .threads)
        process.add(62, of: .descriptors)
        process.add(500_000_000_000, of: .uptime)
        process.add(.init(count: 10, sum: 50_000_000, max: 30_000_000), of: .poolDelay)
        return try MetricsBatch(
            resource: resource, start: Samples.time(0), end: Samples.time(100),
            series: [Samples.dimensions(): requests], ledger: Ledger(captured: 3, waiting: 3), process: process
        ).otlp()
    }

    private func withProcesses(_ body: @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        try await withServer(clock: { Samples.time(110) }, now: { Samples.time(120) }) { client in
            for (service, instance, cores) in [
                ("checkout", "i-1", 0.9), ("checkout", "i-2", 0.5), ("prices", "p", 0.1),
            ] {
                let isBusy = service == "checkout"
                let sent = try await client.post(
                    Self.body(service, instance: instance, cores: cores, isBusy: isBusy))
                #expect(sent.status == .ok)
            }
            try await body(client)
        }
    }

    @Test func apiHasTheProcessesOfAService() async throws {
        try await withProcesses { client in
            let response = try await client.get("/api/v1/process?service=checkout&since=2m&step=1m")
            #expect(response.status == .ok)
            let report = try ReportJSON.value(of: ProcessReport.self, in: Data(buffer: response.body))
            let row = try #require(report.rows.first)
            #expect(report.rows.count == 1 && report.step == 60 && row.slots.count == report.ends.count)
            #expect(row.processes == 2 && row.started == 0)
            #expect(abs(try #require(row.cpuSeconds) - 140) < 1e-6)
            let slot = try #require(row.slots.compactMap(\.self).last)
            #expect(abs(try #require(slot.cores) - 1.4) < 1e-9)
            #expect(abs(try #require(slot.systemCores) - 0.28) < 1e-9)
            #expect(slot.memory == Double(168 << 20))
            #expect(slot.largestMemory == 84 << 20)
            #expect(slot.threads == 28 && slot.descriptors == 124)
            #expect(slot.poolDelay?.mean == 5 && slot.poolDelay?.max == 30)
            #expect(slot.mainQueueDelay == nil)
            let wait = try #require(row.busyWait)
            #expect(wait.waited == 190)
            #expect(wait.estimate == 140)
        }
    }

    @Test(arguments: ["step=5s", "since=10m&until=20m", "endpoint=a", "kind=client", "step=x"])
    func badParameterIsOneClearError(query: String) async throws {
        try await withServer { client in
            let response = try await client.get("/api/v1/process?\(query)")
            #expect(response.status == .badRequest)
            #expect(response.text.contains("\"error\""))
        }
    }

    @Test func senderListHasProcessesAndTheBusyWait() async throws {
        try await withProcesses { client in
            let response = try await client.get("/api/v1/agents")
            let report = try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: response.body))
            let agent = try #require(report.agents.first { $0.instance == "i-1" })
            #expect(agent.runtime == "swift 6.3")
            #expect(agent.process?.memory == Double(84 << 20))
            #expect(report.busyWaits?.map(\.service) == ["checkout"])
            let text = AgentsTable.text(of: report)
            #expect(text.contains("90.0"))
            #expect(text.contains("checkout: requests on new connections waited 3.2 min for answers"))
        }
    }

    @Test func servicePageHasItsProcessesAboveItsLatency() async throws {
        try await withProcesses { client in
            let page = try await client.read("/endpoint?service=checkout")
            #expect(page.status == 200)
            let places = try ["Processes 2", "CPU", "Memory", "Wait for a thread", "Rate and failures", "Latency"].map {
                try #require(page.text.range(of: $0)?.lowerBound, "\($0)")
            }
            #expect(places == places.sorted())
            #expect(page.text.contains("2 started in this window, 28 threads, 124 open files"))
            #expect(page.text.contains("Up to 2.3 min of CPU time may be spent on waiting"))
            #expect(
                page.text.contains("One session that reuses its connections, or AsyncHTTPClient, avoids most of it"))
            #expect(page.text.contains("1.40 0.280"))
            #expect(page.text.contains("168 MiB 84 MiB"))
            #expect(page.markup.contains("CPU over time: all from 1.4"))
            #expect(page.links.contains("/api/v1/process?service=checkout"))
            let other = try await client.read("/endpoint?service=checkout&endpoint=%2Fusers%2F%7Bid%7D")
            #expect(!other.text.contains("Processes 2"))
            let quiet = try await client.read("/endpoint?service=prices")
            #expect(quiet.text.contains("Process ") && !quiet.text.contains("spent on waiting"))
        }
    }

    @Test func prometheusHasTheProcessesByService() async throws {
        try await withProcesses { client in
            let page = try await client.page()
            let labels = "{service_name=\"checkout\",deployment_environment_name=\"test\"}"
            #expect(page.value("martlet_service_processes\(labels)") == 2)
            #expect(abs(try #require(page.value("martlet_service_cpu_cores\(labels)")) - 1.4) < 1e-9)
            #expect(page.value("martlet_service_resident_memory_bytes\(labels)") == Double(168 << 20))
            #expect(page.value("martlet_service_open_fds\(labels)") == 124)
            #expect(page.value("martlet_service_pool_delay_seconds\(labels)") == 0.03)
        }
    }
}
