import Foundation
import Testing

/// Compares an output with a file of `Golden`. `MARTLET_GOLDEN=write` writes the files instead; look at the difference before you
/// commit it.
func expect(_ text: String, in file: String) throws {
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Golden").appendingPathComponent(file)
    if ProcessInfo.processInfo.environment["MARTLET_GOLDEN"] == "write" { try Data(text.utf8).write(to: url) }
    #expect(try String(contentsOf: url, encoding: .utf8) == text, "\(file)")
}
