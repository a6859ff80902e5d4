import ArgumentParser
import Foundation

/// The flag `--store sqlite:PATH`.
enum StoreLocation {
    private static let scheme = "sqlite:"

    static func path(_ text: String) throws -> String {
        guard text.hasPrefix(scheme), text.count > scheme.count else {
            throw ValidationError("--store must be sqlite:PATH")
        }
        return String(text.dropFirst(scheme.count))
    }

    /// Returns a path in the directory that the XDG Base Directory Specification has for state that outlives the program.
    static func defaultPath() -> String {
        let given = ProcessInfo.processInfo.environment["XDG_STATE_HOME"] ?? ""
        // The specification says that a relative path is to be ignored.
        let state = given.hasPrefix("/") ? given : NSHomeDirectory() + "/.local/state"
        return state + "/martlet/collector.sqlite"
    }
}
