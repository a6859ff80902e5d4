import Foundation

/// A folder that is deleted when the value is released.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appendingPathComponent("martlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    package func path(_ name: String) -> String {
        url.appendingPathComponent(name).path
    }

    /// Returns the paths of all files and folders in the folder, relative to it and sorted.
    package func contents() -> [String] {
        (FileManager.default.enumerator(atPath: url.path)?.allObjects as? [String] ?? []).sorted()
    }
}
