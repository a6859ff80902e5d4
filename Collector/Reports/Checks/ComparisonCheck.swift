import MartletStorage

/// The demand that no row is worse than in another window (``Comparison``).
enum ComparisonCheck {
    /// Judges a compared report with rows.
    static func result(for report: Report) -> CheckResult {
        guard let text = ComparisonText(report), let answer = text.answer, let comparison = report.compare else {
            return CheckResult(.unknown, "There are no requests to compare.")
        }
        let notes =
            text.notes.map { " " + $0.prefix(1).uppercased() + $0.dropFirst() + "." }.joined()
            + gone(comparison, report.by)
        if comparison.worse > 0 { return CheckResult(.fails, answer + worst(in: report) + notes) }
        let isJudged = comparison.better + comparison.same > 0
        guard isJudged, !report.rows.contains(where: { mayBeWorse($0, in: report) }) else {
            return CheckResult(.unknown, answer + notes)
        }
        return CheckResult(.holds, answer + notes)
    }

    /// Names the worse rows, first the one that took the most time.
    private static func worst(in report: Report) -> String {
        let names = RowName(of: report.rows, by: report.by)
        let worse = report.rows.filter { if case .worse? = $0.verdict { true } else { false } }
        guard let row = worse.first, let verdict = row.verdict else { return "" }
        let others = names.list(of: worse.dropFirst()).map { " Worse too: \($0)." } ?? ""
        return " \(TerminalText.plain(names.of(row))): \(VerdictText.changes(verdict))." + others
    }

    /// Names the rows that have no requests any more, which no test judges.
    private static func gone(_ comparison: ReportComparison, _ by: [Dimension]) -> String {
        guard let names = RowName(of: comparison.gone, by: by).list(of: comparison.gone) else { return "" }
        return " \(by.rows(comparison.goneCount)) had requests before and none now: \(names)."
    }

    /// Whether so many requests of a row are missing that it would have been called worse if all of them had failed.
    private static func mayBeWorse(_ row: ReportRow, in report: Report) -> Bool {
        guard case .noChangeFound(let smallest)? = row.verdict, let seen = smallest.failures else { return false }
        let rate = PossibleRate(row.measures.failures.rate, completeness: report.completeness(of: row))
        return rate.range.upperBound - rate.seen >= seen
    }
}
