import Foundation

/// A downloaded file as a transcript shows it: its path without the random name, and its contents.
enum Downloaded {
    static func file(_ location: URL?) -> String {
        guard let location else { return "none" }
        let isTemporary = location.path.hasPrefix(NSTemporaryDirectory())
        let content = (try? Data(contentsOf: location)).map { "\(Bytes($0))" } ?? "unreadable"
        try? FileManager.default.removeItem(at: location)
        return "temporary \(isTemporary) extension \(location.pathExtension) content \(content)"
    }
}
