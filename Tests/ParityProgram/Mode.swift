import Foundation
import FoundationNetworking
import Martlet

/// How the agent is there.
enum Mode: String {
    /// Not at all.
    case bare
    /// It sees every session.
    case automatic
    /// It sees the sessions whose configuration was passed through `captureWithMartlet()`.
    case explicit

    func start() -> MartletAgent? {
        guard self != .bare else { return nil }
        var configuration = MartletConfiguration.fromEnvironment().configuration
        configuration.capture = self == .explicit ? .explicit : .automatic
        // No upload of the agent's own comes between the program's requests, some of which go through a proxy that the
        // environment names.
        configuration.interval = .seconds(3600)
        return MartletAgent.start(configuration)
    }
}
