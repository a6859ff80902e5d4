public import Foundation
import MartletTelemetry

/// A request as an agent in memory has it (``MartletAgent/requests``): what a test can assert on. A plain value.
public struct MartletRequest: Sendable, Hashable {
    /// Which side of a request was seen.
    public enum Kind: String, Sendable, CaseIterable {
        /// The service made it.
        case client
        /// The service answered it; seen by tracing alone.
        case server
    }

    public var kind: Kind
    /// In upper case; `_OTHER` for one that no RFC names.
    public var method: String
    /// The server's name or address, in lower case; empty where it is not known.
    public var host: String
    /// The scheme's own where the URL names none; 0 where it is not known.
    public var port: Int
    /// The name that it counts to: the path with its changing parts named, `/users/{id}`.
    public var endpoint: String
    /// Without user, password, query and fragment. Of a span that names no URL, as much as it names: host, port and path,
    /// or the path.
    public var url: String
    /// The final response's status; `nil` when there was none.
    public var status: Int?
    /// The cause of a failure (`error.type`): a transport error's name, or the status as text; `nil` for a success.
    public var errorType: String?
    /// Whether it counts as a failure: a transport error, a 5xx, of a client also a 4xx. What its caller cancelled does not.
    public var isFailure: Bool
    /// By the wall clock.
    public var start: Date
    /// By the monotonic clock.
    public var duration: Duration
    /// Bytes of the body.
    public var bytesSent: UInt64
    /// Bytes of the body.
    public var bytesReceived: UInt64

    init(_ request: CapturedRequest, _ dimensions: RequestDimensions) {
        kind = request.kind == .client ? .client : .server
        method = request.method
        host = dimensions.host
        port = dimensions.port
        endpoint = dimensions.endpoint
        url = request.destination.plainURL
        status = request.status
        errorType = request.error
        isFailure = request.outcome.isFailure(for: request.kind)
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
