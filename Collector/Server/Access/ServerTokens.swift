import Foundation
import Synchronization

/// The tokens for senders and for readers; `nil` admits everyone. They are never logged.
package struct ServerTokens: Sendable, CustomStringConvertible {
    /// The tokens that senders need for `POST /v1/…`.
    package var ingest: IngestTokens?
    /// The token that readers need for `GET /api/…` and `GET /metrics`.
    package var read: String?

    package init(ingest: IngestTokens? = nil, read: String? = nil) {
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
            --read-token, or --insecure to let everyone send and read
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

/// A file with a token on each line. Blank lines and lines that begin with `#` are skipped.
package enum TokenFile {
    package static func tokens(_ path: String) throws(FileFailure) -> [String] {
        let text = String(decoding: try Data(ofFile: path), as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        let tokens = lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        guard !tokens.isEmpty else { throw FileFailure(description: "\(path) contains no token") }
        guard tokens.allSatisfy(ServerTokens.isPossible) else {
            throw FileFailure(
                description: "\(path) contains a token that is not made of ASCII characters without spaces")
        }
        return tokens
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
