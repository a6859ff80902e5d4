import MartletStorage

/// The rows of a report that are compared, in its order, and those that may be gone.
struct ComparedRows {
    /// The values of the rows that have requests in the window.
    let after: [[String?]]
    /// The values of the rows that have requests before.
    let before: [[String?]]

    init(after: [RequestGroup], before: [RequestGroup]) {
        self.after = after.map(\.values)
        self.before = before.map(\.values)
    }

    /// The values of all of them.
    var all: [[String?]] {
        let known = Set(after)
        return after + before.filter { !known.contains($0) }
    }

    /// Returns both sides of each row that has requests in the window.
    func rows(after: StatisticsAnswer, before: StatisticsAnswer) -> [ComparedRow] {
        let (later, earlier) = (Self.blocks(of: after), Self.blocks(of: before))
        let isLater = before.window.to <= after.window.from
        return self.after.map { ComparedRow(before: earlier[$0] ?? [], after: later[$0] ?? [], isLater: isLater) }
    }

    /// Returns the indexes of the rows that a report shows, in its order: rows that are worse, and as many of the first others as the
    /// limit leaves room for.
    func shown(_ verdicts: Comparison, limit: Int?) -> [Int] {
        let worse = after.indices.filter(verdicts.isWorse).prefix(limit ?? .max)
        let others = after.indices.filter { !verdicts.isWorse($0) }
        return (worse + others.prefix((limit ?? .max) - worse.count)).sorted()
    }

    private static func blocks(of answer: StatisticsAnswer) -> [[String?]: [RequestGroup]] {
        Dictionary(zip(answer.groups.map(\.values), answer.slots?.blocks ?? [])) { first, _ in first }
    }
}
