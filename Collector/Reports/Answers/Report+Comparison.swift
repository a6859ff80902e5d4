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
        let verdicts = Self.verdicts(on: after, comparedWith: before)
        for index in rows.indices {
            let values = by.map { rows[index].dimensions[$0] ?? nil }
            rows[index].verdict = verdicts[values]
            rows[index].before = earlier[values].map { row($0).measures }
        }
        let gone = before.groups.filter { verdicts[$0.values] == nil }
        compare = ReportComparison(
            base: base.text, from: TimeText.format(before.window.from), to: TimeText.format(before.window.to),
            completeness: before.account.completeness,
            blocks: .init(before: before.slots?.blockCount ?? 0, after: after.slots?.blockCount ?? 0),
            goneCount: gone.count, gone: gone.prefix(limit ?? gone.count).map(row))
        for verdict in verdicts.values { compare?.count(verdict) }
    }

    /// - Parameter slots: the slots of each row.
    mutating func addChangedTimes(_ slots: GroupSlots) {
        for index in rows.indices {
            rows[index].changed = rows[index].verdict.flatMap {
                ChangedTime($0, slots.groups[index], in: slots.grid)
            }
        }
    }

    private static func verdicts(
        on after: StatisticsAnswer, comparedWith before: StatisticsAnswer
    ) -> [[String?]: Verdict] {
        let (earlier, now) = (before.blocks, after.blocks)
        let values = after.groups.map(\.values)
        let rows = values.map { ComparedRow(before: earlier[$0] ?? [], after: now[$0] ?? []) }
        return Dictionary(zip(values, Comparison.verdicts(of: rows))) { first, _ in first }
    }
}

extension ReportComparison {
    fileprivate mutating func count(_ verdict: Verdict) {
        switch verdict {
        case .worse: worse += 1
        case .better: better += 1
        case .noChangeFound: same += 1
        case .tooLittleData: tooLittleData += 1
        }
    }
}

extension StatisticsAnswer {
    /// The whole slots of each group, by its values.
    fileprivate var blocks: [[String?]: [RequestGroup]] {
        guard let slots else { return [:] }
        return Dictionary(zip(groups.map(\.values), slots.blocks)) { first, _ in first }
    }
}
