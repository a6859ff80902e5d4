import ArgumentParser
import Foundation

/// Writes at once, where `print` keeps a pipe's reader waiting for a full buffer. A reader that has left is no error.
enum Output {
    static func text(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    static func line(_ line: String) {
        text(line + "\n")
    }

    static func error(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("martlet-collector: \(message)\n".utf8))
    }
}
