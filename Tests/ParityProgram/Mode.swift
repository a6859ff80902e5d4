import Foundation
import FoundationNetworking
import Martlet

/// The agent's presence in the program.
enum Mode: String {
    /// The program has no agent.
    case bare
    /// The agent sees every session.
    case automatic
    /// The agent sees the sessions whose configuration was passed through `captureWithMartlet()`.
    case explicit

    /// - Parameter rules: the rules that the agent has in force.
    func start(with rules: [MartletRule]) -> MartletAgent? {
        guard self != .bare else { return nil }
        var configuration = MartletConfiguration.fromEnvironment().configuration
        configuration.capture = self == .explicit ? .explicit : .automatic
        // The long interval keeps the agent's uploads from coming between the program's requests, some of which go
        // through a proxy that the environment names.
        configuration.interval = .seconds(3600)
        configuration.rules = rules
        return MartletAgent.start(configuration)
    }
}
