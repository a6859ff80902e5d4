/// The tokens for senders and for readers; `nil` admits everyone. Never logged.
package struct ServerTokens: Sendable, CustomStringConvertible {
    /// They guard `POST /v1/…`.
    package var ingest: IngestTokens?
    /// Guards `GET /api/…` and `GET /metrics`.
    package var read: String?

    package init(ingest: IngestTokens? = nil, read: String? = nil) {
        self.ingest = ingest
        self.read = read
    }

    package var description: String { "ServerTokens" }

    /// Whether a request can have the token in its header field.
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
