import ArgumentParser
import Foundation

/// Writes at once, where `print` keeps a pipe's reader waiting for a full buffer.
enum Output {
    static func text(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    static func line(_ line: String) {
        text(line + "\n")
    }

    static func error(_ message: String) {
        FileHandle.standardError.write(Data("martlet-collector: \(message)\n".utf8))
    }
}
