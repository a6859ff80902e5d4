/// All requests from one place to another as one host. Its JSON is a fixed format, in which a figure that is not known is left out.
package struct CallEdge: Sendable, Equatable, Codable {
    package var caller: MapPlace
    package var callee: MapPlace
    /// The host that was called or, if the callers are not known, the host that was served.
    package var host: String
    /// The host as which the callee counted the requests. It differs from ``host`` behind a proxy.
    package var servedHost: String
    /// Whether only observed calls tell the callee: its host is another.
    package var isOfSpans = false
    /// The requests as the caller counted them; `nil` if it has no agent.
    package var sent: CallFigures?
    /// Sent requests that reached no server, because no connection to one was made.
    package var lost: UInt64?
    /// The errors of the lost requests, in the order of their names.
    package var lostErrors: [String]?
    /// Sent requests without an answer that may have arrived: they were reset, timed out, hung or were cancelled.
    package var unanswered: UInt64?
    /// The requests as the callee counted them; `nil` if it has no agent. All callers of the host are among them.
    package var arrived: CallFigures?
    /// Watched callers of the host, whose requests ``arrived`` has together; `nil` if one end has no agent.
    package var callers: Int?
    /// The requests that all watched callers of the host sent together; `nil` if one end has no agent.
    package var sentByAll: UInt64?
    /// Requests that the caller had an answer to and the callee did not count; 0 if they are few enough to lie at the window's ends.
    /// Some of the host's processes may have no agent. `nil` unless the callee has one caller and both have agents.
    package var uncounted: UInt64?

    private enum CodingKeys: String, CodingKey {
        case caller, callee, host, sent, lost, unanswered, arrived, callers, uncounted
        case servedHost = "served_host"
        case isOfSpans = "is_of_spans"
        case lostErrors = "lost_errors"
        case sentByAll = "sent_by_all"
    }

    /// The figures of the caller or, if it is not known, of the callee.
    private var main: CallFigures? { sent ?? arrived }

    package var count: UInt64 { main?.count ?? 0 }

    package var failureRate: Double { main?.failures.rate ?? 0 }

    /// Whether failures or losses are worth the colour of failures.
    package var isFailing: Bool { (lost ?? 0) > 0 || failureRate >= Self.failing }

    package static let failing = 0.05

    /// The number of callers, if the callee counts several together.
    package var sharedCallers: Int? { callers.flatMap { $0 > 1 ? $0 : nil } }
}
