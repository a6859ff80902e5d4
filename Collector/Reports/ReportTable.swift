import MartletStorage

/// A report as text for a person.
package enum ReportTable {
    package static func text(of report: Report) -> String {
        var table = TextTable(report.by.map { ($0.rawValue, .left) } + figureColumns)
        for row in report.rows.indices {
            table.add(report.by.map { report.rows[row].text(of: $0) } + figures(of: report.rows[row].measures))
        }
        let labels = report.by.indices.map { $0 == 0 ? "total" : "" }
        table.add(labels + figures(of: report.totals.measures))
        return heading(of: report) + "\n" + table.text
    }

    private static func heading(of report: Report) -> String {
        let completeness = report.completeness.map(FigureText.completeness) ?? "unknown"
        var text = "\(report.from) to \(report.to), completeness \(completeness)\n"
        if let unwatched = report.unwatched { text += unwatched.sentence + "\n" }
        if let damaged = report.damagedPoints {
            text += "\(damaged) points were damaged on disk and are missing from these figures\n"
        }
        if let spans = report.totals.measures.fromSpans {
            text += "\(spans) requests are counted from spans only; requests that were not sampled are missing\n"
        }
        if report.rows.isEmpty { text += "No requests in this time.\n" }
        return text
    }

    private static let figureColumns: [(title: String, alignment: TextTable.Alignment)] = [
        "count", "rate", "failed", "p50", "p95", "p99", "max", "received", "apdex", "impact",
    ].map { ($0, .right) }

    private static func figures(of measures: RequestMeasures) -> [String] {
        [
            String(measures.count), FigureText.perSecond(measures.perSecond),
            FigureText.percent(measures.failures.rate), FigureText.milliseconds(measures.latency.p50),
            FigureText.milliseconds(measures.latency.p95), FigureText.milliseconds(measures.latency.p99),
            FigureText.milliseconds(measures.latency.max), FigureText.bytes(measures.bytes.received),
            FigureText.fixed(measures.apdex, 2), FigureText.percent(measures.impact),
        ]
    }
}
