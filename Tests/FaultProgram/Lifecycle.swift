import Foundation
import Logging
import Martlet
import ServiceLifecycle

/// The agent within a service group that ends with SIGTERM, as in many services.
enum Lifecycle {
    /// - Parameter lingers: whether the work goes on after SIGTERM, until the process is killed.
    static func run(_ agent: MartletAgent, _ load: Load, lingers: Bool) async throws {
        let group = ServiceGroup(
            configuration: .init(
                services: [agent, LoadService(load: load, lingers: lingers)], gracefulShutdownSignals: [.sigterm],
                logger: Logger(label: "fault-program")))
        try await group.run()
        try AgentReport(agent.status.ledger, shutdown: .zero).print()
    }
}

private struct LoadService: Service {
    let load: Load
    let lingers: Bool

    func run() async throws {
        await cancelWhenGracefulShutdown { await load.run() }
        guard lingers else { return }
        FileHandle.standardOutput.write(Data("stopping\n".utf8))
        try await Task.sleep(for: .seconds(3600))
    }
}
