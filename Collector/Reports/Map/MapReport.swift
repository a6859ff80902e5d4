import MartletStorage
import MartletTelemetry

/// The calls between services, as each side counted them. Its JSON is a fixed format.
package struct MapReport: Sendable, Equatable, Codable, WindowReport {
    package var from: String
    package var to: String
    /// See ``Report/ratesSince``.
    package var ratesSince: String?
    @NullIfUnknown package var completeness: Double?
    package var unwatched: UnwatchedTime?
    package var uncountedSenders: Int?
    package var sharedSenders: Int?
    package var clocksAhead: FastClocks?
    package var damagedPoints: Int?
    package var fromSpans: UInt64?
    package var lastSeen: String?
    /// The number of edges, including those that a limit cut off.
    package var edgeCount: Int
    /// The edges, those with lost requests first, then by number of requests.
    package var edges: [CallEdge]
    /// See ``Report/empty``.
    package var empty: NoResultsReason?

    private enum CodingKeys: String, CodingKey {
        case from, to, completeness, unwatched, edges, empty
        case ratesSince = "rates_since"
        case uncountedSenders = "uncounted_senders"
        case sharedSenders = "shared_senders"
        case clocksAhead = "clocks_ahead"
        case damagedPoints = "damaged_points"
        case fromSpans = "from_spans"
        case lastSeen = "last_seen"
        case edgeCount = "edge_count"
    }

    /// The hosts that are called as a system, such as a database. Over HTTP they may be called too.
    package var hostsOfSystems: Set<String> { Set(edges.filter { $0.system != nil }.map(\.host)) }

    /// The edge with the most requests that are known to be lost; `nil` if none is.
    package var worst: CallEdge? { edges.first.flatMap { ($0.lost ?? 0) > 0 ? $0 : nil } }

    /// The answer in a sentence, without its full stop.
    package var sentence: String {
        guard let worst, let lost = worst.lost, let sent = worst.sent else {
            return "No request is known to be lost"
        }
        return "\(FigureText.grouped(lost)) of \(FigureText.counted(sent.count, "request")) did not reach "
            + worst.callee.name + others
    }

    /// The lost requests of the other edges, in words; empty if there are none. Edges that a limit cut off are not included.
    private var others: String {
        let losses = edges.dropFirst().compactMap(\.lost).filter { $0 > 0 }
        guard !losses.isEmpty else { return "" }
        let lost = losses.reduce(0, +)
        let least = edges.count < edgeCount && losses.count + 1 == edges.count ? "at least " : ""
        return ", and \(least)\(FigureText.grouped(lost)) \(lost == 1 ? "was" : "were") lost on "
            + FigureText.counted(UInt64(losses.count), "other edge")
    }
}

extension MapReport {
    /// - Parameters:
    ///   - answer: requests by ``CallGraph/dimensions``.
    ///   - account: the account of the services at the ends of the edges.
    ///   - services: these services.
    init(
        _ answer: StatisticsAnswer, _ account: WindowAccount, of services: Set<String>, _ edges: [CallEdge],
        limit: Int?
    ) {
        let total = answer.groups.reduce(into: RequestGroup(values: [])) { sum, group in
            if services.contains(group.values[0] ?? "") { sum.merge(group) }
        }
        self.init(
            from: TimeText.exact(answer.window.from), to: TimeText.exact(answer.window.to),
            ratesSince: answer.ratesSince, completeness: account.completeness, unwatched: UnwatchedTime(account),
            uncountedSenders: account.uncountedSenders > 0 ? account.uncountedSenders : nil,
            sharedSenders: account.sharedSenders > 0 ? account.sharedSenders : nil,
            clocksAhead: FastClocks(account),
            damagedPoints: answer.damagedPoints > 0 ? answer.damagedPoints : nil,
            fromSpans: total.fromSpans > 0 ? total.fromSpans : nil,
            lastSeen: total.latestEnd > 0 ? TimeText.format(min(total.latestEnd, answer.window.to)) : nil,
            edgeCount: edges.count, edges: Array(edges.prefix(limit ?? edges.count)))
    }
}
