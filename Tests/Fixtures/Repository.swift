import Foundation

/// The directory of the sources.
package enum Repository {
    package static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent(name).path
    }

    package static func text(_ name: String) throws -> String {
        try String(contentsOfFile: path(name), encoding: .utf8)
    }

    /// Returns the cells of each row of a document's first table after a text, without the head. The code marks are removed.
    package static func table(after text: String, in document: String) throws -> [[String]] {
        let content = try self.text(document)
        guard let start = content.range(of: text) else { return [] }
        let lines = content[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
        return lines.drop { !$0.hasPrefix("|---") }.dropFirst().prefix { $0.hasPrefix("|") }.map { line in
            line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map {
                $0.replacing("`", with: "").trimmingCharacters(in: .whitespaces)
            }
        }
    }
}

extension ChildProcess.Program {
    /// Python with the packages that `scripts/setup.sh test` installs.
    package static let testPython = ChildProcess.Program(
        url: URL(fileURLWithPath: Repository.path(".build/python/bin/python")))
}
