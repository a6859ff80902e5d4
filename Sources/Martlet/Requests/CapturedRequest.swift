import MartletTelemetry

/// A request that ended, as an instrument passes it to the recorder: the values to count, and a function that makes a
/// span of its details.
struct CapturedRequest: Sendable {
    var kind = RequestKind.client
    var method: String
    var destination: RequestDestination
    /// The endpoint that the instrument knows, such as a server's route; `nil` if the path decides.
    var route: String?
    var status: Int?
    /// The attribute `error.type`; `nil` for a success.
    var error: String?
    /// The name of the rule that changed the request; `nil` for none.
    var rule: String?
    /// The called system; `nil` for a plain HTTP request. The endpoint of a database or a message broker is ``route``.
    var system: CalledSystem?
    /// Whether a served request came over TLS; `false` for a client's request.
    var isSecure = false
    /// `nil` if it is unknown, or no answer came.
    var httpVersion: HTTPVersion?
    /// The start, by the wall clock.
    var start: UnixNanoseconds
    /// The duration in nanoseconds, by the monotonic clock.
    var durationNanoseconds: UInt64
    var bytesSent: UInt64 = 0
    var bytesReceived: UInt64 = 0
    var phases = PhaseDurations()
    /// Makes the span at the end of the interval, with the dimensions under which the request was counted; `nil` if
    /// details are not kept. The closure stays in memory until then, so it should hold no more than it needs.
    var makeSpan: (@Sendable (RequestDimensions) -> SpanRecord)?
    /// An estimate of the memory for ``makeSpan`` and its span, in bytes.
    var detailBytes = 0

    var outcome: RequestOutcome { RequestOutcome(kind: kind, status: status, error: error) }
}

/// A system that a request calls, and the conventions for its name and operations.
struct CalledSystem: Sendable, Equatable {
    let name: String
    /// Other than ``RequestConventions/http``.
    let conventions: RequestConventions
}

/// The methods that statistics distinguish (RFC 9110, section 9, and RFC 5789). The semantic conventions call any other
/// method `_OTHER`.
enum HTTPMethod {
    /// Returns the method's name in statistics. A switch compares short strings as words, while a set would hash them.
    static func name(_ method: String) -> String {
        switch method {
        case "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "CONNECT", "TRACE", "QUERY": method
        default: RequestDimensions.otherMethodOrError
        }
    }
}

/// The delegate of the agent's uploads over `URLSession`. Capture ignores tasks with such a delegate.
protocol OwnUploadDelegate: AnyObject {}
