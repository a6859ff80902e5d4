import MartletStorage

/// A limit that every row of a report has to keep.
protocol RowCheck: Sendable {
    /// Returns whether a row keeps the limit; `nil` if the requests that are missing decide.
    func holds(_ row: ReportRow, in report: Report) -> Bool?
    /// Returns the figure that the limit is for; the row with the largest one is named.
    func figure(_ row: ReportRow) -> Double

    /// Returns a sentence about all rows, none of which has a larger figure than `row`.
    func allHold(_ rows: String, _ row: ReportRow) -> String
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
        guard let worst = largest(failing.isEmpty ? (open.isEmpty ? report.rows : open) : failing) else {
            return CheckResult(.unknown, "There are no requests.")
        }
        let name = TerminalText.plain(names.of(worst))
        if !failing.isEmpty {
            return CheckResult(.fails, fails(name, worst, in: report) + others(failing.count - 1, in: report))
        }
        if !open.isEmpty {
            return CheckResult(.unknown, cannotTell(name, worst, in: report) + others(open.count - 1, in: report))
        }
        let rows = (report.by.last ?? .endpoint).rows(report.rows.count)
        return CheckResult(.holds, allHold(report.rows.count == 1 ? name : "each of \(rows)", worst))
    }

    private func largest(_ rows: [ReportRow]) -> ReportRow? { rows.max { figure($0) < figure($1) } }

    private func others(_ count: Int, in report: Report) -> String {
        count > 0 ? " The same for \(count) more of \((report.by.last ?? .endpoint).rows(report.rows.count))." : ""
    }
}

extension Report {
    /// The completeness in brackets, as a sentence has it.
    var completenessInWords: String {
        guard let completeness else { return "completeness unknown" }
        return completeness < 1 ? "\(FigureText.completeness(completeness)) arrived" : "complete"
    }
}
