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
    /// The hours of the longest past by which a row was judged; 0 if only the two windows were compared.
    package var pastHours: Int
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

    private enum CodingKeys: String, CodingKey {
        case base, from, to, completeness, worse, better, same, gone
        case pastHours = "past_hours"
        case tooLittleData = "too_little_data"
        case goneCount = "gone_count"
    }
}

extension Report {
    /// Adds the other window, and a verdict for each row.
    ///
    /// - Parameters:
    ///   - verdicts: the verdicts on the compared rows.
    ///   - shown: the indexes of the compared rows in the report.
    ///   - before: the rows of the other window, with its totals.
    ///   - earlier: all rows in the other window that are compared or may be gone, by their values.
    ///   - limit: the most rows in the report.
    mutating func compare(
        _ compared: ComparedRows, _ verdicts: Comparison, _ shown: [Int], with before: StatisticsAnswer,
        _ earlier: [[String?]: RequestGroup], _ base: ComparisonBase, limit: Int?
    ) {
        let total = before.total
        func row(_ group: RequestGroup) -> ReportRow {
            ReportRow(group, by: by, in: before.ratedWindow, among: total, account: before.account)
        }
        for (index, place) in zip(rows.indices, shown) {
            (rows[index].verdict, rows[index].changed) = (verdicts[place], verdicts.changed(place))
            rows[index].before = earlier[compared.after[place]].map { row($0).measures }
        }
        let present = compared.others.union(compared.after)
        let gone = before.groups.filter { !present.contains($0.values) }
        compare = ReportComparison(
            base: base.text, from: TimeText.exact(before.window.from), to: TimeText.exact(before.window.to),
            completeness: before.account.completeness, pastHours: verdicts.pastHours,
            worse: verdicts.worse, better: verdicts.better, same: verdicts.same,
            tooLittleData: verdicts.tooLittleData,
            goneCount: gone.count, gone: gone.prefix(limit ?? gone.count).map(row))
    }

    /// Whether the other side of the comparison has no rows at all.
    package var isComparedWithNothing: Bool {
        compare?.goneCount == 0 && rows.allSatisfy { $0.before == nil }
    }
}

/// The compared rows of a report, in its order.
struct ComparedRows {
    /// The values of the rows that have requests in the window.
    let after: [[String?]]
    /// The values of further rows that have requests in the window, as far as they had some in the earlier one.
    let others: Set<[String?]>

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
}
