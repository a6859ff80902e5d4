import ArgumentParser
import Foundation

/// Writes at once, where `print` keeps a pipe's reader waiting for a full buffer.
enum Output {
    /// An answer. What keeps it from being written whole is told in a sentence and throws an exit code; a reader that has left
    /// is no error.
    static func answer(_ text: String) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        } catch {
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
            let code = cause.flatMap { Int32(exactly: $0.code) }
            guard code != EPIPE else { return }
            let reason = code.map { String(cString: strerror($0)) } ?? error.localizedDescription
            self.error("cannot write to standard output: \(reason)")
            throw ExitCode.unavailable
        }
    }

    /// For whoever watches; nothing depends on it.
    static func line(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    static func error(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("martlet-collector: \(message)\n".utf8))
    }
}
