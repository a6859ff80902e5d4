public import Foundation
import MartletTelemetry
import Synchronization

/// A request that ended: one that an in-memory agent has captured, for a test to check (``MartletAgent/requests``), or
/// one to report with ``MartletAgent/record(_:)`` because no instrument captures it. A plain value.
public struct MartletRequest: Sendable, Hashable {
    /// Which side of a request was observed.
    public enum Kind: String, Sendable, CaseIterable {
        /// The service made it.
        case client
        /// The service answered it. Only tracing sees such requests.
        case server
    }

    /// The side of the service.
    public var kind: Kind
    /// The called system, such as `postgresql` or `kafka`; `nil` for a plain HTTP request. Only spans of the service's tracing
    /// name it (`db.system.name`, `messaging.system`, `rpc.system.name`).
    public private(set) var system: String?
    /// The method in upper case; `_OTHER` for one that no RFC names. The operation of a database or a message broker.
    public var method: String
    /// The server's name or address, in lower case; empty if it is unknown.
    public var host: String
    /// The server's port, the scheme's own if the URL names none; 0 if it is unknown.
    public var port: Int
    /// The name under which the request is counted: the path with its changing parts named, `/users/{id}`.
    public var endpoint: String
    /// The URL without user, password, query and fragment. For a span without a URL, the parts that the span has: host,
    /// port and path, or only the path.
    public var url: String
    /// The final response's status; `nil` if none came.
    public var status: Int?
    /// The cause of a failure (`error.type`): a transport error's name, or the status as text; `nil` for a success.
    public var errorType: String?
    /// Whether the request counts as a failure: a transport error, a 5xx, and for a client a 4xx. A request that its
    /// caller cancelled is not a failure.
    public var isFailure: Bool
    /// The name of the rule that changed the request (``MartletRule``); `nil` for none.
    public var rule: String?
    /// The start, by the wall clock.
    public var start: Date
    /// The duration, by the monotonic clock.
    public var duration: Duration
    /// Bytes of the body that the service sent.
    public var bytesSent: UInt64
    /// Bytes of the body that the service received.
    public var bytesReceived: UInt64

    /// Makes a request for ``MartletAgent/record(_:)``.
    ///
    /// - Parameters:
    ///   - method: in upper case.
    ///   - url: an absolute URL; user, password, query and fragment are removed.
    ///   - kind: the side of the service.
    ///   - endpoint: the name to count under; if it is empty, the path decides. An answered request without one is
    ///   `{unmatched}`, unless a template of the configuration matches its path.
    ///   - status: `nil` if no response came.
    ///   - errorType: the cause of a failure, one of few names (`error.type`). A status that is a failure needs none.
    ///   `cancelled` is not a failure, and `hung` is a separate kind.
    ///   - start: the start, by the wall clock.
    ///   - duration: a negative one counts as 0.
    ///   - bytesSent: bytes of the body that the service sent.
    ///   - bytesReceived: bytes of the body that the service received.
    public init(
        _ method: String, _ url: URL, kind: Kind = .client, endpoint: String = "", status: Int? = nil,
        errorType: String? = nil, start: Date, duration: Duration, bytesSent: UInt64 = 0, bytesReceived: UInt64 = 0
    ) {
        let target = RequestTarget(url)
        let side: RequestKind = kind == .client ? .client : .server
        self.kind = kind
        self.method = method
        host = target.host
        port = target.port
        self.endpoint = endpoint
        self.url = PlainURL.text(of: url.absoluteString)
        self.status = status
        self.errorType = errorType
        isFailure = RequestOutcome(kind: side, status: status, error: errorType).isFailure(for: side)
        self.start = start
        self.duration = duration
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
    }

    init(_ request: CapturedRequest, _ dimensions: RequestDimensions) {
        kind = request.kind == .client ? .client : .server
        system = dimensions.system
        method = request.method
        host = dimensions.host
        port = dimensions.port
        endpoint = dimensions.endpoint
        url = request.destination.plainURL
        status = request.status
        errorType = request.error
        isFailure = request.outcome.isFailure(for: request.kind)
        rule = request.rule
        start = Date(timeIntervalSince1970: Double(request.start) / 1e9)
        duration = .nanoseconds(Int64(clamping: request.durationNanoseconds))
        bytesSent = request.bytesSent
        bytesReceived = request.bytesReceived
    }
}

extension RequestDestination {
    fileprivate var plainURL: String {
        switch self {
        case .url(let url): PlainURL.text(of: url.absoluteString)
        case .target(let target):
            target.host.isEmpty ? target.path : "\(target.bracketedHost):\(target.port)\(target.path)"
        }
    }
}

/// The requests that an in-memory agent has captured, in the order in which they ended. Thread-safe.
final class RecordedRequests: Sendable {
    private let state: Lock<State>

    private struct State {
        /// Used only to name endpoints.
        var names: SeriesStatistics
        var requests: [MartletRequest] = []
    }

    init(_ configuration: MartletConfiguration) {
        state = Lock(State(names: SeriesStatistics(configuration, start: Clock.wall())))
    }

    var all: [MartletRequest] { state.withLock(\.requests) }

    func add(_ request: CapturedRequest) {
        state.withLock { state in
            let limit = MartletLimits.requestsInMemory
            if state.requests.count >= limit { state.requests.removeFirst(limit / 10) }
            state.requests.append(MartletRequest(request, state.names.dimensions(of: request)))
        }
    }
}
