import MartletStorage
import MartletTelemetry

/// The other side of a comparison, and the outcome for the compared rows (``ReportQuery``).
package struct ReportComparison: Sendable, Equatable, Codable {
    /// The parameter `compare`, such as `previous`.
    package var base: String
    /// The window of the earlier figures, RFC 3339, UTC.
    package var from: String
    package var to: String
    /// See ``Report/completeness``.
    @NullIfUnknown package var completeness: Double?
    package var blocks: Blocks
    /// The number of rows that are worse, including compared rows that `top` cut off. The same holds for the other verdicts.
    package var worse = 0
    package var better = 0
    package var same = 0
    package var tooLittleData = 0
    /// The number of rows that had requests before and have none now, among the rows that would have been compared in the
    /// earlier window.
    package var goneCount: Int
    /// The gone rows with their earlier figures, those with the greatest impact first; at most as many as `top`.
    package var gone: [ReportRow]

    /// The number of blocks that each window was divided into.
    package struct Blocks: Sendable, Equatable, Codable {
        package var before: Int
        package var after: Int
    }

    private enum CodingKeys: String, CodingKey {
        case base, from, to, completeness, blocks, worse, better, same, gone
        case tooLittleData = "too_little_data"
        case goneCount = "gone_count"
    }
}

extension Report {
    /// Adds the other window, and a verdict for each row. The compared rows are judged together, even those that a limit left
    /// out of the report.
    ///
    /// - Parameters:
    ///   - verdicts: the verdicts on the compared rows.
    ///   - shown: the indexes of the compared rows in the report.
    ///   - after, earlier: the compared rows in blocks, in the report's window and in the other one.
    ///   - before: the rows of the other window, with its totals.
    ///   - limit: the most rows in the report.
    mutating func compare(
        _ compared: ComparedRows, _ verdicts: Comparison, _ shown: [Int], in after: StatisticsAnswer,
        with before: StatisticsAnswer, in earlier: StatisticsAnswer, _ base: ComparisonBase, limit: Int?
    ) {
        let total = before.total
        func row(_ group: RequestGroup) -> ReportRow {
            ReportRow(group, by: by, in: before.ratedWindow, among: total, account: before.account)
        }
        let groups = Dictionary((before.groups + earlier.groups).map { ($0.values, $0) }) { first, _ in first }
        for (index, place) in zip(rows.indices, shown) {
            rows[index].verdict = verdicts[place]
            rows[index].before = groups[compared.after[place]].map { row($0).measures }
        }
        let present = Set(compared.after + after.groups.map(\.values))
        let gone = before.groups.filter { !present.contains($0.values) }
        compare = ReportComparison(
            base: base.text, from: TimeText.exact(before.window.from), to: TimeText.exact(before.window.to),
            completeness: before.account.completeness,
            blocks: .init(before: earlier.slots?.grid.blocks.count ?? 0, after: after.slots?.grid.blocks.count ?? 0),
            worse: verdicts.worse, better: verdicts.better, same: verdicts.same,
            tooLittleData: verdicts.tooLittleData,
            goneCount: gone.count, gone: gone.prefix(limit ?? gone.count).map(row))
    }

    /// Whether the other side of the comparison has no rows at all.
    package var isComparedWithNothing: Bool {
        compare?.goneCount == 0 && rows.allSatisfy { $0.before == nil }
    }

    /// - Parameter slots: the slots of each row.
    mutating func addChangedTimes(_ slots: GroupSlots) {
        for index in rows.indices {
            rows[index].changed = rows[index].verdict.flatMap {
                ChangedTime($0, slots.groups[index], in: slots.grid)
            }
        }
    }
}

/// The compared rows of a report, in its order, and the rows that may be gone.
struct ComparedRows {
    /// The values of the rows that have requests in the window.
    let after: [[String?]]
    /// The values of the rows that have requests in the earlier window.
    let before: [[String?]]

    init(after: [RequestGroup], before: [RequestGroup]) {
        self.after = after.map(\.values)
        self.before = before.map(\.values)
    }

    /// The values of all rows.
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

    /// Returns the indexes of the rows that a report shows, in its order: all rows that are worse, and of the others the first
    /// ones, as many as the limit has room for. If more rows are worse, those that changed the most are shown.
    func shown(_ verdicts: Comparison, limit: Int?) -> [Int] {
        let worse = after.indices.filter(verdicts.isWorse).sorted { (one: Int, other: Int) -> Bool in
            guard let first = verdicts[one].change, let second = verdicts[other].change, first != second else {
                return one < other
            }
            return second < first
        }.prefix(limit ?? .max)
        let others = after.indices.filter { !verdicts.isWorse($0) }
        return (worse + others.prefix((limit ?? .max) - worse.count)).sorted()
    }

    private static func blocks(of answer: StatisticsAnswer) -> [[String?]: [RequestGroup]] {
        Dictionary(zip(answer.groups.map(\.values), answer.slots?.blocks ?? [])) { first, _ in first }
    }
}
