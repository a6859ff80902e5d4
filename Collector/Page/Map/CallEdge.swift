/// All requests from one place to another as one host.
struct CallEdge: Sendable {
    var from: MapPlace
    var to: MapPlace
    /// The host that was called or, if the callers are not known, the host that was served.
    var host: String
    /// The requests as the caller counted them; `nil` if it has no agent.
    var sent: CallFigures?
    /// The requests as the callee counted them; `nil` if it has no agent. All callers of the host are among them.
    var arrived: CallFigures?
    /// The host as which the callee counted them. It differs from ``host`` behind a proxy.
    var servedHost: String
    /// Watched callers of the host, whose requests ``arrived`` has together.
    var callers = 1
    /// The requests that all watched callers of the host sent together.
    var sentByAll: UInt64 = 0
    /// Whether only observed calls tell the callee: its host is another.
    var isOfSpans = false

    /// By the caller's count, or by the callee's if the caller is not known, as is the rate.
    var count: UInt64 { (sent ?? arrived)?.count ?? 0 }

    var failureRate: Double { (sent ?? arrived)?.failureRate ?? 0 }

    /// Whether failures or losses are worth the colour of failures.
    var isFailing: Bool { (sent?.lost ?? 0) > 0 || failureRate >= Self.failing }

    static let failing = 0.05

    /// Requests that the caller had an answer to and the callee did not count; 0 if they are few enough to lie at the window's ends.
    /// Some of the host's processes may have no agent.
    var uncounted: UInt64 {
        guard let sent, let arrived, callers == 1 else { return 0 }
        let rest = [arrived.count, sent.lost, sent.unanswered].reduce(sent.count) { $0 - min($0, $1) }
        return Double(rest) > Self.smallestGap * Double(sent.count) ? rest : 0
    }

    private static let smallestGap = 0.005
}
