import Fixtures
import Foundation

/// Where the sources are.
enum Repository {
    static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent(name).path
    }
}

extension ChildProcess.Program {
    /// With what `scripts/setup.sh test` installs.
    static let testPython = ChildProcess.Program(
        url: URL(fileURLWithPath: Repository.path(".build/python/bin/python")))
}
