import MartletStorage
import MartletTelemetry

extension Report {
    /// Adds the other window, and a verdict for each row. All groups are judged together, those that a limit left out of the
    /// rows as well.
    ///
    /// - Parameters:
    ///   - after, before: all groups of the report's window and of the other one, in blocks.
    ///   - limit: the rows of the report at most.
    mutating func compare(
        _ after: StatisticsAnswer, with before: StatisticsAnswer, _ base: ComparisonBase, limit: Int? = nil
    ) {
        let total = before.total
        func row(_ group: RequestGroup) -> ReportRow { ReportRow(group, by: by, in: before.window, among: total) }
        let earlier = Dictionary(before.groups.map { ($0.values, $0) }) { first, _ in first }
        let verdicts = Comparison(of: Self.rows(of: after, comparedWith: before))
        let indexes = Dictionary(zip(after.groups.map(\.values), after.groups.indices)) { first, _ in first }
        for index in rows.indices {
            let values = by.map { rows[index].dimensions[$0] ?? nil }
            rows[index].verdict = indexes[values].map { verdicts[$0] }
            rows[index].before = earlier[values].map { row($0).measures }
        }
        let gone = before.groups.filter { indexes[$0.values] == nil }
        compare = ReportComparison(
            base: base.text, from: TimeText.format(before.window.from), to: TimeText.format(before.window.to),
            completeness: before.account.completeness,
            blocks: .init(before: before.slots?.blockCount ?? 0, after: after.slots?.blockCount ?? 0),
            worse: verdicts.worse, better: verdicts.better, same: verdicts.same,
            tooLittleData: verdicts.tooLittleData,
            goneCount: gone.count, gone: gone.prefix(limit ?? gone.count).map(row))
    }

    /// - Parameter slots: the slots of each row.
    mutating func addChangedTimes(_ slots: GroupSlots) {
        for index in rows.indices {
            rows[index].changed = rows[index].verdict.flatMap {
                ChangedTime($0, slots.groups[index], in: slots.grid)
            }
        }
    }

    private static func rows(
        of after: StatisticsAnswer, comparedWith before: StatisticsAnswer
    ) -> [ComparedRow] {
        let earlier = Dictionary(zip(before.groups.map(\.values), before.slots?.blocks ?? [])) { first, _ in first }
        return zip(after.groups, after.slots?.blocks ?? []).map { group, blocks in
            ComparedRow(before: earlier[group.values] ?? [], after: blocks)
        }
    }
}
