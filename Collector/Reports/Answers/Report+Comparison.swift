import MartletStorage
import MartletTelemetry

extension Report {
    /// Adds the other window, and a verdict for each row. All compared rows are judged together, those that a limit left out of
    /// the report as well.
    ///
    /// - Parameters:
    ///   - verdicts: those on the compared rows.
    ///   - shown: the indexes of the compared rows that the report has.
    ///   - after, earlier: these rows in blocks, in the report's window and in the other one.
    ///   - before: the rows of the other window, with its totals.
    ///   - limit: the rows of the report at most.
    mutating func compare(
        _ compared: ComparedRows, _ verdicts: Comparison, _ shown: [Int], in after: StatisticsAnswer,
        with before: StatisticsAnswer, in earlier: StatisticsAnswer, _ base: ComparisonBase, limit: Int? = nil
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
            base: base.text, from: TimeText.format(before.window.from), to: TimeText.format(before.window.to),
            completeness: before.account.completeness,
            blocks: .init(before: earlier.slots?.grid.blocks.count ?? 0, after: after.slots?.grid.blocks.count ?? 0),
            worse: verdicts.worse, better: verdicts.better, same: verdicts.same,
            tooLittleData: verdicts.tooLittleData,
            goneCount: gone.count, gone: gone.prefix(limit ?? gone.count).map(row))
    }

    /// Whether the other side of the comparison has none of the rows, and no others.
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
