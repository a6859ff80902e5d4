import Foundation
import Martlet
import Synchronization

/// The agents of the process, one after another: a single agent, unless a disturbance restarts it.
final class Agents: Sendable {
    private let mode: Options.Mode
    private let current: Mutex<MartletAgent?>
    private let ended = Mutex<[MartletAgent]>([])

    init(_ mode: Options.Mode) {
        self.mode = mode
        current = Mutex(Self.start(mode))
    }

    private static func start(_ mode: Options.Mode) -> MartletAgent? {
        guard mode != .bare else { return nil }
        var (configuration, _) = MartletConfiguration.fromEnvironment()
        configuration.capture = mode == .explicit ? .explicit : .automatic
        return MartletAgent.start(configuration)
    }

    var inFlight: Int { current.withLock { $0?.status.inFlight } ?? 0 }

    /// The statuses of the agents that were shut down.
    var statuses: [MartletStatus] { ended.withLock { $0.map(\.status) } }

    func shutdown() async {
        guard let agent = current.withLock({ $0 }) else { return }
        await agent.shutdown(within: .seconds(20))
        ended.withLock { $0.append(agent) }
    }

    func disturb(_ disturbance: Disturbance) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: disturbance.pause)
            switch disturbance {
            case .switching: current.withLock { agent in agent?.isCapturing.toggle() }
            case .restarting:
                await shutdown()
                current.withLock { $0 = Self.start(mode) }
            case .leaving: exit(0)
            }
        }
        current.withLock { $0?.isCapturing = true }
    }
}

/// Changes to the agent while requests are in flight.
enum Disturbance: String {
    /// Capture is switched off and on.
    case switching
    /// The agent is shut down, and another one started.
    case restarting
    /// The process exits.
    case leaving

    var pause: Duration {
        switch self {
        case .switching: .milliseconds(10)
        case .restarting: .milliseconds(200)
        case .leaving: .seconds(1)
        }
    }
}
