/// The dimensions that distinguish the series of requests. Path and query are left out, because every field must have
/// few different values.
package struct RequestDimensions: Sendable, Hashable {
    package var kind: RequestKind
    /// The called system: `db.system.name`, `messaging.system` or `rpc.system.name` of the semantic conventions, such as
    /// `postgresql`. `nil` for a plain HTTP request.
    package var system: String?
    /// The request's method in upper case, or `_OTHER` for one that RFC 9110 and RFC 5789 do not name. The operation for
    /// a database or a message broker, such as `SELECT`.
    package var method: String
    /// The server's name or address, without the port. Empty if it is unknown.
    package var host: String
    /// The server's port; the scheme's default port if the URL has none. 0 if it is unknown.
    package var port: Int
    /// A path with its changing parts named: `/users/{id}`. For a database, the summary of the query, or its text without
    /// values; for a message broker, the destination.
    package var endpoint: String
    /// The status of the final response; `nil` if there was none.
    package var status: Int?
    /// `error.type` of the semantic conventions: a transport error's name, or the status as text if it is a failure.
    /// `nil` for a success.
    package var error: String?
    /// The name of the agent's rule that changed the requests, `martlet.rule`; `nil` for none.
    package var rule: String?
    /// The telemetry that the series is counted from.
    package var source = StatisticsSource.metrics
    /// Whether ``endpoint`` may be the attribute `http.route`. `false` for a name that the agent made of a path. Like the
    /// next three fields, it is only in the agent: the collector keeps none of them.
    package var isRoute = true
    /// Whether a served request came over TLS (`url.scheme`); `false` for a client's request.
    package var isSecure = false
    /// `nil` if it is unknown, or no answer came.
    package var httpVersion: HTTPVersion?
    package var conventions = RequestConventions.http

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

    /// The endpoint, host or service under which those without a separate series are counted.
    package static let other = "{other}"

    /// The endpoint of requests whose sender names none. The stable semantic conventions allow clients to omit it.
    package static let unknownEndpoint = "{unknown}"

    /// The endpoint of incoming requests that matched no route.
    package static let unmatched = "{unmatched}"

    /// The method or error under which those without a separate name are counted (semantic conventions, "HTTP Spans").
    package static let otherMethodOrError = "_OTHER"

    package var outcome: RequestOutcome { RequestOutcome(kind: kind, status: status, error: error) }

    /// Whether the requests are HTTP calls without an answer, or with one that the instrument does not report.
    package var isUnansweredCall: Bool { kind == .client && status == nil && system == nil }
}

/// The part of the semantic conventions that names the attributes of a request. The raw value is the one in the journal.
package enum RequestConventions: UInt8, Sendable, Hashable, CaseIterable {
    case http
    case database
    case messaging
    /// Remote procedure calls. Martlet counts them as HTTP requests, and in the same metrics.
    case rpc
}

/// The version of HTTP of an answer (`network.protocol.version`). The raw value is the one in the journal.
package enum HTTPVersion: UInt8, Sendable, Hashable, CaseIterable {
    case http10 = 1
    case http11
    case http2
    case http3

    /// The attribute's value.
    package var text: String {
        switch self {
        case .http10: "1.0"
        case .http11: "1.1"
        case .http2: "2"
        case .http3: "3"
        }
    }

    /// `nil` for any text but those of the versions of HTTP, so that the attribute has few values. Earlier conventions
    /// wrote `2.0` and `3.0`.
    package init?(_ text: String) {
        switch text {
        case "1.0": self = .http10
        case "1.1": self = .http11
        case "2", "2.0": self = .http2
        case "3", "3.0": self = .http3
        default: return nil
        }
    }
}

/// Which side of a request was observed.
package enum RequestKind: String, Sendable, Hashable, CaseIterable {
    case client
    case server
}

/// The outcome of a request, as reports count it.
package enum RequestOutcome: Sendable, Hashable, CaseIterable {
    case success
    /// The request failed without an error status: connection, name look-up, time-out, TLS, …
    case transportFailure
    case clientError
    case serverError
    /// The request took so long that it counts as hung.
    case hung
    /// The caller cancelled the request. It is counted, but not as a failure (semantic conventions, "HTTP Spans",
    /// error.type).
    case cancelled

    /// `error.type` values that have a separate outcome.
    package static let hungError = "hung"
    package static let cancelledError = "cancelled"

    package init(kind: RequestKind, status: Int?, error: String?) {
        self =
            switch (error, status) {
            case (Self.cancelledError, _): .cancelled
            case (Self.hungError, _): .hung
            case (_, .some(400..<500)): .clientError
            case (_, .some(500...)): .serverError
            case (.some, _): .transportFailure
            case (nil, _): .success
            }
    }

    /// Returns whether the outcome is a failure. A 4xx is a failure for the client but not for the server (semantic
    /// conventions, "HTTP Spans", span status).
    package func isFailure(for kind: RequestKind) -> Bool {
        switch self {
        case .success, .cancelled: false
        case .clientError: kind == .client
        case .transportFailure, .serverError, .hung: true
        }
    }
}

/// The telemetry that a sender's requests are counted from.
package enum StatisticsSource: String, Sendable, Hashable, CaseIterable {
    /// Metrics, which count every request.
    case metrics
    /// Spans, for a sender that sends nothing else. Requests that it did not sample are missing.
    case spans
}
