/// Which side of a request was seen.
package enum RequestKind: String, Sendable, Hashable, CaseIterable {
    case client
    case server
}

/// What a sender's requests are counted from.
package enum StatisticsSource: String, Sendable, Hashable, CaseIterable {
    /// Metrics, which count every request.
    case metrics
    /// Spans, of a sender that has nothing else: what it did not sample is missing.
    case spans
}

/// What tells one series of requests from another. Every field has few values, which is why there is no path and no
/// query in it.
package struct RequestDimensions: Sendable, Hashable {
    package var kind: RequestKind
    /// The request's method in upper case, or `_OTHER` for one that RFC 9110 and RFC 5789 do not name.
    package var method: String
    /// The server's name or address; no port. Empty where it is not known.
    package var host: String
    /// The server's port; the scheme's own where the URL names none. 0 where it is not known.
    package var port: Int
    /// A path with its changing parts named: `/users/{id}`.
    package var endpoint: String
    /// The final response's status; `nil` when there was none.
    package var status: Int?
    /// `error.type` of the semantic conventions: a transport error's name, or the status as text where the status is a
    /// failure. `nil` for a success.
    package var error: String?
    /// Of which telemetry the series is.
    package var source = StatisticsSource.metrics

    package init(
        kind: RequestKind, method: String, host: String, port: Int, endpoint: String, status: Int?, error: String?
    ) {
        self.kind = kind
        self.method = method
        self.host = host
        self.port = port
        self.endpoint = endpoint
        self.status = status
        self.error = error
    }

    package var outcome: RequestOutcome { RequestOutcome(kind: kind, status: status, error: error) }
}
