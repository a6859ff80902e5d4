/// A finding before its words: its episodes, and what it is about.
struct FindingDraft {
    let id: String
    let kind: FindingKind
    /// The episode that names it.
    let main: Int
    /// The episodes with the same cause, the main one among them, and those that suffer from it.
    let members: [Int]
    let sufferers: [Int]
    var subject = FindingSubject(service: "")
}

/// Makes findings of linked episodes: what has nothing below it is a finding, together with its siblings. Each keeps its id
/// and, as long as no other has clearly more, the episode that names it.
struct FindingGroups {
    /// The id of each episode's finding, and the main episode of each.
    private var ids: [Int: String] = [:]
    private var mains: [String: Int] = [:]

    mutating func drafts(_ episodes: EpisodeList, _ links: EpisodeLinks, _ rows: RowTable) -> [FindingDraft] {
        var taken: Set<String> = []
        let below = links.links.filter { $0.value == .below }.keys.sorted()
        let suffering = Dictionary(grouping: below, by: \.second).mapValues { $0.map(\.first) }
        let groups = Self.groups(episodes, links, deeper: Set(below.map(\.first)))
        let known = groups.filter { hasID($0) }
        return (known + groups.filter { !hasID($0) }).compactMap { members in
            draft(members, suffering, episodes, rows, &taken)
        }
    }

    private func hasID(_ members: [Int]) -> Bool { members.contains { ids[$0] != nil } }

    mutating func forget(except known: Set<Int>) {
        ids = ids.filter { known.contains($0.key) }
        mains = mains.filter { known.contains($0.value) }
    }

    // MARK: Groups

    /// Returns the episodes that nothing explains, together with their siblings.
    private static func groups(_ episodes: EpisodeList, _ links: EpisodeLinks, deeper: Set<Int>) -> [[Int]] {
        let roots = episodes.all.map(\.number).filter { !deeper.contains($0) }
        var group = Dictionary(uniqueKeysWithValues: roots.map { ($0, $0) })
        for pair in links.links.filter({ $0.value == .sibling }).keys.sorted() {
            guard let one = group[pair.first], let other = group[pair.second], one != other else { continue }
            for root in roots where group[root] == other { group[root] = one }
        }
        return Dictionary(grouping: roots) { group[$0] ?? $0 }.values.map { $0.sorted() }.sorted { $0[0] < $1[0] }
    }

    private mutating func draft(
        _ members: [Int], _ suffering: [Int: [Int]], _ episodes: EpisodeList, _ rows: RowTable,
        _ taken: inout Set<String>
    ) -> FindingDraft? {
        guard let main = main(of: members.compactMap { episodes[$0] }) else { return nil }
        let sufferers = Self.sufferers(of: members, suffering)
        let candidates = [main.number] + members + sufferers
        let id = candidates.compactMap { ids[$0] }.first { !taken.contains($0) } ?? newID(main, rows, taken)
        taken.insert(id)
        mains[id] = main.number
        for member in members { ids[member] = id }
        return FindingDraft(
            id: id, kind: main.kind, main: main.number, members: members, sufferers: sufferers)
    }

    /// Returns the episode of the kind that explains the others, with the most requests. Another one than before must have
    /// clearly more.
    private func main(of members: [Episode]) -> Episode? {
        let best = members.reduce(members.first) { best, member in
            guard let best, best.number != member.number else { return member }
            let (one, other) = (best.kind.precedence, member.kind.precedence)
            return other < one || other == one && member.excess > best.excess ? member : best
        }
        guard let best, let id = members.lazy.compactMap({ ids[$0.number] }).first,
            let before = members.first(where: { $0.number == mains[id] }), before.kind == best.kind
        else { return best }
        let difference = best.excess - before.excess
        let chance = (2 * FindingConstants.other * (best.excess + before.excess)).squareRoot()
        return difference <= chance ? before : best
    }

    /// Returns all episodes that the members explain, directly or not, the oldest first.
    private static func sufferers(of members: [Int], _ suffering: [Int: [Int]]) -> [Int] {
        var (found, next) = (Set(members), members)
        while let number = next.popLast() {
            for above in suffering[number] ?? [] where found.insert(above).inserted { next.append(above) }
        }
        return found.subtracting(members).sorted()
    }

    // MARK: Ids

    /// Returns an id from what the episode is and when it was found, so that a detector that starts again gives the same.
    private func newID(_ episode: Episode, _ rows: RowTable, _ taken: Set<String>) -> String {
        let used = taken.union(ids.values)
        return (0...).lazy.map { Self.id(episode, rows, $0) }.first { !used.contains($0) } ?? "f-\(episode.number)"
    }

    private static func id(_ episode: Episode, _ rows: RowTable, _ attempt: Int) -> String {
        let place =
            switch episode.place {
            case .service(let service): [service]
            case .row(let index): rows[index].row.texts
            }
        let text = ([episode.kind.rawValue, String(episode.opened), String(attempt)] + place).joined(separator: "\0")
        // FNV-1a, 32 bits.
        let hash = text.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let digits = String(hash, radix: 16)
        return "f-" + String(repeating: "0", count: 8 - digits.count) + digits
    }
}

extension FindingRow {
    fileprivate var texts: [String] { [service, kind.rawValue, method ?? "", host ?? "", endpoint ?? ""] }
}
