import ArgumentParser
import Foundation

/// Writes at once; `print` keeps a pipe's reader waiting for a full buffer.
enum Output {
    /// Writes an answer. If it cannot be written whole, prints the reason in a sentence and throws an exit code. A reader
    /// that has left is no error.
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

    /// Writes a line for a person who watches, and ignores errors.
    static func line(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }

    static func error(_ message: String) {
        try? FileHandle.standardError.write(contentsOf: Data("martlet-collector: \(message)\n".utf8))
    }
}
