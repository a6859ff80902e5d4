import MartletStorage

/// A limit that every row of a report has to keep.
protocol RowCheck: Sendable {
    /// Returns whether a row keeps the limit; `nil` if the requests that are missing decide.
    func holds(_ row: ReportRow, in report: Report) -> Bool?
    /// Returns the figure that the limit is for; the row with the largest one is named.
    func figure(_ row: ReportRow) -> Double

    /// Returns a sentence about all rows, none of which has a larger figure than `row`.
    func allHold(_ rows: String, _ row: ReportRow, in report: Report) -> String
    /// Returns a sentence about a row.
    func fails(_ name: String, _ row: ReportRow, in report: Report) -> String
    func cannotTell(_ name: String, _ row: ReportRow, in report: Report) -> String
}

extension RowCheck {
    /// Judges a report with rows.
    func result(for report: Report) -> CheckResult {
        let failing = report.rows.filter { holds($0, in: report) == false }
        let open = report.rows.filter { holds($0, in: report) == nil }
        let names = RowName(of: report.rows, by: report.by)
        let judged = (failing.isEmpty ? (open.isEmpty ? report.rows : open) : failing)
            .sorted { figure($0) > figure($1) }
        guard let worst = judged.first else { return CheckResult(.unknown, "There are no requests.") }
        let name = TerminalText.plain(names.of(worst))
        let others = names.list(of: judged.dropFirst()).map { " The same for \($0)." } ?? ""
        if !failing.isEmpty { return CheckResult(.fails, fails(name, worst, in: report) + others) }
        if !open.isEmpty { return CheckResult(.unknown, cannotTell(name, worst, in: report) + others) }
        let rows = report.by.rows(report.rows.count)
        return CheckResult(.holds, allHold(report.rows.count == 1 ? name : "each of \(rows)", worst, in: report))
    }

}

extension Report {
    /// Returns the share of captured requests that arrived: of the row's service, or of all senders if the rows do not tell services
    /// apart. `nil` if no agent reported on it.
    func completeness(of row: ReportRow) -> Double? { by.contains(.service) ? row.completeness : completeness }

    /// Returns the completeness in brackets, as a sentence about a row has it.
    func completenessInWords(of row: ReportRow) -> String { Self.inWords(completeness(of: row)) }

    /// The least completeness of the rows in brackets, unless all of their requests are known to have arrived.
    var gapInWords: String {
        let shares = rows.map { completeness(of: $0) }
        let known = shares.compactMap(\.self)
        guard let least = known.min() else { return " (\(Self.inWords(nil)))" }
        if known.count < shares.count { return " (completeness of some unknown)" }
        let isLeast = known.contains { $0 > least }
        return least < 1 ? " (\(isLeast ? "at least " : "")\(Self.inWords(least)))" : ""
    }

    /// The completeness of all senders in brackets, likewise.
    var completenessInWords: String { Self.inWords(completeness) }

    private static func inWords(_ completeness: Double?) -> String {
        guard let completeness else { return "completeness unknown" }
        return completeness < 1 ? "\(FigureText.completeness(completeness)) arrived" : "complete"
    }
}
