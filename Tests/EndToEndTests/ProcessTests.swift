import Fixtures
import Foundation
import MartletReports
import Testing

/// The figures of a real process with the agent in it, compared with its own measurements.
@Suite struct ProcessTests {
    @Test func processIsShownWithCPUTimeFilesAndTaskDelay() async throws {
        let folder = try TemporaryFolder()
        let collector = try await CollectorProcess(store: folder.path("collector.sqlite"))
        let probe = Probe(folder: folder, collector: collector.address)
        try await ShopServer().run { server in
            let result = try await probe.finish(try probe.start(server, requests: 5, hasBurden: true))
            try await expect(try #require(result.burden), of: probe)
        }
    }

    private func expect(_ burden: ProbeResult.Burden, of probe: Probe) async throws {
        let row = try #require(try await probe.processes("service=probe&step=1h").rows.first)
        #expect(row.processes == 1)
        #expect(row.started == 1)
        let cpu = try #require(row.cpuSeconds)
        #expect(cpu >= 1 && cpu >= burden.cpuSeconds / 2)
        let slots = row.slots.compactMap(\.self)
        #expect(slots.contains { $0.descriptors ?? 0 > Double(burden.files) })
        #expect(slots.contains { $0.threads ?? 0 >= 2 })
        #expect(slots.contains { $0.memory ?? 0 > 1e6 })
        #expect(slots.contains { $0.poolDelay?.max ?? 0 > burden.blockedSeconds * 200 })

        let (status, output, _) = try await ChildProcess(
            .martletCollector, ["agents", "--format", "json", "--collector", probe.collector]
        ).finish()
        #expect(status == 0)
        let agents = try ReportJSON.value(of: AgentsReport.self, in: Data(output.utf8))
        let agent = try #require(agents.agents.first)
        #expect(agent.process?.memory ?? 0 > 1e6)
        #expect(agent.runtime?.hasPrefix("swift 6.") == true)
    }
}
