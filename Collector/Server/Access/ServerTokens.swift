import Foundation
import Synchronization

/// The tokens for senders and for readers; `nil` admits everyone. They are never logged.
package struct ServerTokens: Sendable, CustomStringConvertible {
    /// The tokens that senders need for `POST /v1/…`.
    package var ingest: IngestTokens?
    /// The tokens that readers need for the page, `GET /api/…` and `GET /metrics`.
    package var read: ReadTokens?

    package init(ingest: IngestTokens? = nil, read: ReadTokens? = nil) {
        self.ingest = ingest
        self.read = read
    }

    package var description: String { "ServerTokens" }

    /// Whether a request can carry the token in its header field.
    package static func isPossible(_ token: String) -> Bool { token.utf8.allSatisfy { (0x21...0x7e).contains($0) } }

    /// Returns the reason why the collector must not listen at `address`; `nil` if it may.
    package func objection(toListeningAt address: ListenAddress, insecure: Bool) -> String? {
        guard !address.isLoopback, !insecure, ingest == nil || read == nil else { return nil }
        return """
            \(address.host) can be reached from other machines: give --ingest-token (or --ingest-token-file) and \
            --read-token (or --read-token-file), or --insecure to let everyone send and read
            """
    }
}

/// The tokens, one of which a sender must give. They may be replaced while the collector runs. They are never logged. Safe to
/// use from any task.
package final class IngestTokens: Sendable {
    private let tokens: Mutex<[String]>

    package init(_ tokens: [String]) {
        self.tokens = Mutex(tokens)
    }

    package func replace(with tokens: [String]) {
        self.tokens.withLock { $0 = tokens }
    }

    /// Compares with every token, so that the time it takes reveals nothing.
    func contain(_ given: String) -> Bool {
        let tokens = tokens.withLock(\.self)
        return tokens.reduce(false) { SecretText.isEqual(given, to: $1) || $0 }
    }
}

/// A token of readers. Its secret is never logged; its name is.
package struct ReadToken: Sendable, Equatable {
    /// The name of the token of `--read-token`.
    package static let defaultName = "read-token"

    package var name: String
    fileprivate var secret: String
    /// Whether its readers may delete the kept requests.
    package var mayClear: Bool

    package init(name: String = defaultName, secret: String, mayClear: Bool = true) {
        (self.name, self.secret, self.mayClear) = (name, secret, mayClear)
    }
}

/// The tokens, one of which a reader must give. They may be replaced while the collector runs. Safe to use from any task.
package final class ReadTokens: Sendable {
    private let tokens: Mutex<[ReadToken]>

    package init(_ tokens: [ReadToken]) {
        self.tokens = Mutex(tokens)
    }

    package func replace(with tokens: [ReadToken]) {
        self.tokens.withLock { $0 = tokens }
    }

    /// Compares with every token, so that the time it takes reveals nothing.
    func token(_ given: String) -> ReadToken? {
        tokens.withLock(\.self).reduce(nil) { SecretText.isEqual(given, to: $1.secret) ? $1 : $0 }
    }

    /// Returns the token as it is now; `nil` if it was removed or its secret changed.
    func current(_ token: ReadToken) -> ReadToken? {
        tokens.withLock { $0.first { $0.name == token.name && $0.secret == token.secret } }
    }
}

/// A file with a token on each line. Blank lines and lines that begin with `#` are skipped.
package enum TokenFile {
    private static let impossible = "a token that is not made of ASCII characters without spaces"
    /// The word after a token that must not clear.
    private static let readOnly = "read-only"

    package static func tokens(_ path: String) throws(FileFailure) -> [String] {
        let tokens = try lines(path).map(\.text)
        guard tokens.allSatisfy(ServerTokens.isPossible) else {
            throw FileFailure(description: "\(path) contains \(impossible)")
        }
        return tokens
    }

    /// Reads lines of a name and a token, and possibly `read-only`.
    package static func readTokens(_ path: String) throws(FileFailure) -> [ReadToken] {
        var (tokens, names, secrets) = ([ReadToken](), Set<String>(), Set<String>())
        for (number, line) in try lines(path) {
            // The text of a line may be a secret.
            func failure(_ reason: String) -> FileFailure {
                FileFailure(description: "line \(number) of \(path) \(reason)")
            }
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard words.count == 2 || words.count == 3 && words[2] == readOnly else {
                throw failure("must have a name, a token, and \(readOnly) if the token must not clear requests")
            }
            guard ServerTokens.isPossible(words[1]) else { throw failure("contains \(impossible)") }
            guard names.insert(words[0]).inserted else { throw failure("repeats a name") }
            guard secrets.insert(words[1]).inserted else { throw failure("repeats a token") }
            tokens.append(ReadToken(name: words[0], secret: words[1], mayClear: words.count == 2))
        }
        return tokens
    }

    /// Returns the lines with a token, and their numbers.
    private static func lines(_ path: String) throws(FileFailure) -> [(number: Int, text: String)] {
        let text = String(decoding: try Data(ofFile: path), as: UTF8.self)
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated().map {
            (number: $0 + 1, text: $1.trimmingCharacters(in: .whitespaces))
        }.filter { !$0.text.isEmpty && !$0.text.hasPrefix("#") }
        guard !lines.isEmpty else { throw FileFailure(description: "\(path) contains no token") }
        return lines
    }
}

/// The comparison of a text with a secret.
enum SecretText {
    /// Returns whether both are equal. Reads every given byte, so that the time it takes reveals nothing about the secret, not
    /// even its length.
    static func isEqual(_ given: String, to secret: String) -> Bool {
        let (given, secret) = (Array(given.utf8), Array(secret.utf8))
        guard !secret.isEmpty else { return false }
        var difference = given.count ^ secret.count
        for (index, byte) in given.enumerated() {
            difference |= Int(byte ^ secret[index % secret.count])
        }
        return difference == 0
    }
}
