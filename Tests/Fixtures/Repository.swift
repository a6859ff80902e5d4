import Foundation

/// The directory of the sources.
package enum Repository {
    package static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent(name).path
    }
}

extension ChildProcess.Program {
    /// Python with the packages that `scripts/setup.sh test` installs.
    package static let testPython = ChildProcess.Program(
        url: URL(fileURLWithPath: Repository.path(".build/python/bin/python")))
}
