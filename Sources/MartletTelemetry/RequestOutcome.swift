/// The outcome of a request, as reports count it.
package enum RequestOutcome: Sendable, Hashable, CaseIterable {
    case success
    /// The request failed without an error status: connection, name look-up, time-out, TLS, …
    case transportFailure
    case clientError
    case serverError
    /// The request did not end within the time after which a request counts as hung.
    case hung
    /// The caller cancelled the request, which is counted and is not a failure (semantic conventions, "HTTP Spans",
    /// error.type).
    case cancelled

    /// `error.type` values with an outcome of their own.
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

    /// Returns whether the outcome is a failure. A 4xx is the client's failure and not the server's (semantic
    /// conventions, "HTTP Spans", span status).
    package func isFailure(for kind: RequestKind) -> Bool {
        switch self {
        case .success, .cancelled: false
        case .clientError: kind == .client
        case .transportFailure, .serverError, .hung: true
        }
    }
}
