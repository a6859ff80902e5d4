import Logging
import Martlet
import ServiceLifecycle

/// The agent within a service group that ends with SIGTERM, as in many services.
enum Lifecycle {
    static func run(_ agent: MartletAgent, _ load: Load) async throws {
        let group = ServiceGroup(
            configuration: .init(
                services: [agent, LoadService(load: load)], gracefulShutdownSignals: [.sigterm],
                logger: Logger(label: "fault-program")))
        try await group.run()
        try AgentReport(agent.status.ledger, shutdown: .zero).print()
    }
}

private struct LoadService: Service {
    let load: Load

    func run() async throws {
        await cancelWhenGracefulShutdown { await load.run() }
    }
}
