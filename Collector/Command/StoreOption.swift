import ArgumentParser
import Foundation

/// The store that a command works on: the one that `serve` would use.
struct StoreOption: ParsableArguments {
    @Option(
        help: "The store, sqlite:PATH. (default: collector.sqlite in $XDG_STATE_HOME/martlet or ~/.local/state/martlet)"
    )
    var store: String?

    func path() throws -> String {
        let chosen = store ?? CollectorEnvironment(ProcessInfo.processInfo.environment)["STORE"]
        return try chosen.map(StoreLocation.path) ?? StoreLocation.defaultPath()
    }
}
