/// A limit of the 99th percentile of each row's durations.
struct LatencyCheck: RowCheck {
    /// Milliseconds.
    let limit: Double

    /// - Parameter limit: nanoseconds.
    init(limit: UInt64) {
        self.limit = Double(limit) / 1e6
    }

    func holds(_ row: ReportRow, in report: Report) -> Bool? {
        let p99 = figure(row)
        guard let bounds = row.p99Bounds else { return p99 <= limit }
        if let highest = bounds.to, highest <= limit { return true }
        return bounds.from > limit ? false : nil
    }

    func figure(_ row: ReportRow) -> Double { row.measures.latency.p99 }

    func allHold(_ rows: String, _ row: ReportRow, in report: Report) -> String {
        "p99 of \(rows) is at most \(duration(figure(row)))\(report.gapInWords); at most \(duration(limit)) is allowed."
    }

    func fails(_ name: String, _ row: ReportRow, in report: Report) -> String { sentence(name, row, in: report) }

    func cannotTell(_ name: String, _ row: ReportRow, in report: Report) -> String {
        sentence(name, row, in: report) + " The missing requests decide."
    }

    private func sentence(_ name: String, _ row: ReportRow, in report: Report) -> String {
        let between = row.p99Bounds.map { bounds in
            "between \(duration(bounds.from)) and \(bounds.to.map(duration) ?? "any time"), "
        }
        return "p99 of \(name) is \(duration(figure(row))) (\(between ?? "")\(report.completenessInWords(of: row)));"
            + " at most \(duration(limit)) is allowed."
    }

    private func duration(_ milliseconds: Double) -> String {
        milliseconds < 1000
            ? "\(FigureText.figure(milliseconds)) ms" : "\(FigureText.figure(milliseconds / 1000)) s"
    }
}
