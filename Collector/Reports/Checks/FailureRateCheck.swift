/// A limit of the share of failed requests of each row.
struct FailureRateCheck: RowCheck {
    /// 0...1
    let limit: Double

    func holds(_ row: ReportRow, in report: Report) -> Bool? { rate(row, in: report).isAtMost(limit) }

    func figure(_ row: ReportRow) -> Double { row.measures.failures.rate }

    func allHold(_ rows: String, _ row: ReportRow, in report: Report) -> String {
        "At most \(percent(figure(row))) of the requests of \(rows) fail\(report.gapInWords); at most \(percent(limit)) are allowed."
    }

    func fails(_ name: String, _ row: ReportRow, in report: Report) -> String { sentence(name, row, in: report) }

    func cannotTell(_ name: String, _ row: ReportRow, in report: Report) -> String {
        sentence(name, row, in: report) + " The missing requests decide."
    }

    private func sentence(_ name: String, _ row: ReportRow, in report: Report) -> String {
        let range = rate(row, in: report).range
        let between = "between \(FigureText.percent(range.lowerBound)) and \(percent(range.upperBound)), "
        return "\(name) fails in \(percent(figure(row))) of \(FigureText.counted(row.measures.count, "request"))"
            + " (\(range.lowerBound < range.upperBound ? between : "")\(report.completenessInWords(of: row)));"
            + " at most \(percent(limit)) are allowed."
    }

    private func rate(_ row: ReportRow, in report: Report) -> PossibleRate {
        PossibleRate(row.measures.failures.rate, completeness: report.completeness(of: row))
    }

    private func percent(_ share: Double) -> String { FigureText.percent(share) + " %" }
}
