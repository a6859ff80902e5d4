import Foundation

/// Which episodes belong to one thing. A link stays once it is made, so that findings do not come and go.
struct EpisodeLinks {
    enum Link {
        /// The second is deeper in the call graph and explains the first.
        case below
        /// Both are parts of one trouble, as two endpoints of a service.
        case sibling
        /// The first has its own cause, although the second is deeper.
        case apart
    }

    struct Pair: Hashable, Comparable {
        let first: Int
        let second: Int

        static func < (one: Pair, other: Pair) -> Bool { (one.first, one.second) < (other.first, other.second) }
    }

    private(set) var links: [Pair: Link] = [:]

    /// Links episodes that overlap, and cuts links of those that have their own cause.
    mutating func update(
        _ episodes: inout EpisodeList, _ rows: RowTable, _ graph: inout DependencyGraph, now: Slot
    ) {
        Self.split(&episodes, rows, &graph, now: now)
        let spans = episodes.all.map(\.span)
        for first in spans {
            let below = graph.below(first.place, rows)
            for second in spans where second.number != first.number && first.mayBeLinked(to: second, now: now) {
                guard let link = Self.link(first, second, below, rows, &graph) else { continue }
                let pair = Pair(first: first.number, second: second.number)
                if links[pair] == nil { links[pair] = link }
            }
        }
        cut(episodes, rows, graph, now: now)
    }

    /// Splits episodes that have come back for a reason that was not there before.
    private static func split(
        _ episodes: inout EpisodeList, _ rows: RowTable, _ graph: inout DependencyGraph, now: Slot
    ) {
        let spans = episodes.all.map(\.span)
        for first in spans {
            guard let end = first.endBefore else { continue }
            let below = graph.below(first.place, rows)
            let hasNewCause = spans.contains { second in
                second.number != first.number && second.began - FindingConstants.overlap > end
                    && first.mayBeLinked(to: second, now: now)
                    && link(first, second, below, rows, &graph) == .below
            }
            if hasNewCause { episodes.split(first.number, minute: FindingTime.minute(of: now) - 1) }
        }
    }

    /// The episodes that explain an episode, by its number.
    var causes: [Int: [Int]] {
        Dictionary(grouping: links.filter { $0.value == .below }.keys, by: \.first).mapValues { $0.map(\.second) }
    }

    /// - Parameter below: what the first one's place depends on.
    private static func link(
        _ first: EpisodeSpan, _ second: EpisodeSpan, _ below: Set<Place>, _ rows: RowTable,
        _ graph: inout DependencyGraph
    ) -> Link? {
        if first.place == second.place { return explains(second.kind, first.kind) ? .below : nil }
        if below.contains(second.place), !first.kind.isOwnFault, !first.kind.hasNoEffectOnOthers,
            !second.kind.hasNoEffectOnOthers, !isLaterSlowness(second, of: first), mayExplain(second, first, graph),
            !graph.below(second.place, rows).contains(first.place)
        {
            return .below
        }
        guard first.kind == second.kind, first.number < second.number, let one = first.place.row,
            let other = second.place.row
        else { return nil }
        return areSiblings(rows[one].row, rows[other].row) ? .sibling : nil
    }

    /// Whether the deeper episode is slowness that began after the failures above: it does not explain them.
    private static func isLaterSlowness(_ deeper: EpisodeSpan, of failing: EpisodeSpan) -> Bool {
        failing.kind == .failing && deeper.kind == .slow && deeper.start > failing.start + FindingConstants.overlap
    }

    /// Whether a kind of trouble of a place explains another one. Tasks that wait and silence are no reason why memory grows.
    private static func explains(_ kind: FindingKind, _ other: FindingKind) -> Bool {
        kind.precedence < other.precedence && (other != .memory || kind == .ended)
    }

    /// Whether the deeper episode may explain the other one. Only calls that failed when they became many may have been sent again:
    /// no other trouble below is the reason why a request makes many.
    private static func mayExplain(_ deeper: EpisodeSpan, _ first: EpisodeSpan, _ graph: DependencyGraph) -> Bool {
        guard let calls = first.calls else { return true }
        let called = calls + calls.compactMap(graph.target)
        return deeper.kind == .failing && called.contains { deeper.place == .row($0) }
            && deeper.start - FindingConstants.overlap <= first.start && first.start < deeper.end ?? .max
    }

    /// Whether they are rows of one service, of one partner's hosts, or of several callers of the same endpoint.
    private static func areSiblings(_ one: FindingRow, _ other: FindingRow) -> Bool {
        guard one.kind == other.kind else { return false }
        if one.kind == .server { return one.service == other.service }
        return one.host == other.host || (one.method == other.method && one.endpoint == other.endpoint)
    }

    mutating func forget(except known: Set<Int>) {
        links = links.filter { known.contains($0.key.first) && known.contains($0.key.second) }
    }

    // MARK: Own causes

    private mutating func cut(_ episodes: EpisodeList, _ rows: RowTable, _ graph: DependencyGraph, now: Slot) {
        let below = links.filter { $0.value == .below }.keys.sorted()
        for (number, pairs) in Dictionary(grouping: below, by: \.first).sorted(by: { $0.key < $1.key }) {
            guard let episode = episodes[number], episode.isOpen, episode.kind == .failing else { continue }
            let elsewhere = pairs.filter { episodes[$0.second].map { $0.place != episode.place } ?? false }
            let deeper = elsewhere.compactMap { episodes[$0.second] }
            let cause = OwnCause(rows: rows, graph: graph, now: now)
            guard !deeper.isEmpty, cause.has(episode, deeper) else { continue }
            for pair in elsewhere { links[pair] = .apart }
        }
    }
}

extension EpisodeSpan {
    /// Whether two episodes overlap, and one of them may not have been looked at with the other: it goes on, or is new.
    fileprivate func mayBeLinked(to other: EpisodeSpan, now: Slot) -> Bool {
        let isOneNew = FindingTime.slot(of: max(opened, other.opened) + 1) >= now
        return (isOpen || other.isOpen || isOneNew) && overlaps(other)
    }
}

/// Decides by counts whether more of a service's requests fail than the requests that it makes explain.
struct OwnCause {
    let rows: RowTable
    let graph: DependencyGraph
    let now: Slot

    func has(_ episode: Episode, _ deeper: [Episode]) -> Bool {
        guard let index = episode.place.row, deeper.allSatisfy({ $0.kind == .failing }) else { return false }
        let row = rows[index].row
        let isServer = row.kind == .server
        let mine = isServer ? rows.served[row.service] ?? [] : [index]
        let below = isServer ? rows.made[row.service] ?? [] : graph.target(of: index).map { [$0] } ?? []
        let slots = episode.slots(until: now)
        let minutes = FindingTime.minute(of: slots.lowerBound)..<FindingTime.minute(after: slots.upperBound)
        let failures = mine.reduce(0) { $0 + self.failures($1, minutes) }
        let own = excess(mine, minutes) - max(excess(below, minutes), 0)
        let expected = failures - own
        guard own > 0, expected > 0, own >= FindingConstants.ownShare * episode.excess else { return false }
        return failures * log(failures / expected) - own >= FindingConstants.other
    }

    /// The failures that would not have been before.
    private func excess(_ indexes: [Int], _ minutes: Range<Minute>) -> Double {
        indexes.reduce(0) { sum, index in
            let all = minutes.reduce(0) { $0 + rows[index].failures.requests(in: $1) }
            return sum + failures(index, minutes) - all * usualShare(index, before: minutes.lowerBound)
        }
    }

    private func failures(_ index: Int, _ minutes: Range<Minute>) -> Double {
        minutes.reduce(0) { $0 + rows[index].failures.atLeast(0, in: $1) }
    }

    /// The share of failures before a minute, without those of closed episodes; 0 if there is nothing before.
    private func usualShare(_ index: Int, before minute: Minute) -> Double {
        let history = rows[index].failures
        let before = (history.minutes.lowerBound..<max(minute, history.minutes.lowerBound)).filter(history.isUsable)
        guard before.contains(where: { history.requests(in: $0) > 0 }) else { return 0 }
        let (bad, all) = before.reduce(into: (0.5, 1.5)) {
            $0.0 += history.atLeast(0, in: $1)
            $0.1 += history.requests(in: $1)
        }
        return bad / all
    }
}
