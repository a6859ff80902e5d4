import MartletStorage
import MartletTelemetry

/// A report as CSV (RFC 4180): a line of names, and a line for each row. The names and their order are a fixed format.
package enum ReportCSV {
    package static func text(of report: Report) -> String {
        let names = ["from", "to", "completeness"] + report.by.map(\.rawValue) + figures.map(\.name)
        let compared = report.compare == nil ? [] : ComparisonCSV.names
        let window = [CSVCell.text(report.from), CSVCell.text(report.to), CSVCell.number(report.completeness)]
        var text = CSVCell.line(names + compared)
        for row in report.rows {
            let values = report.by.map { CSVCell.text(row.text(of: $0)) }
            let others = report.compare.map { ComparisonCSV.cells(of: row, $0) } ?? []
            text += CSVCell.line(window + values + figures.map { $0.value(row.measures) } + others)
        }
        return text
    }

    private typealias Figure = (name: String, value: @Sendable (RequestMeasures) -> String)

    private static let figures: [Figure] = counts + latency + phases + others

    private static let counts: [Figure] = [
        ("count", { String($0.count) }),
        ("per_second", { CSVCell.number($0.perSecond) }),
        ("failures", { String($0.failures.count) }),
        ("failure_rate", { CSVCell.number($0.ofRequests($0.failures.rate)) }),
        ("transport", { String($0.failures.transport) }),
        ("http_4xx", { String($0.failures.http4xx) }),
        ("http_5xx", { String($0.failures.http5xx) }),
        ("hung", { String($0.failures.hung) }),
        ("cancelled", { String($0.failures.cancelled) }),
    ]

    private static let latency: [Figure] = [
        ("mean_ms", { CSVCell.number($0.ofRequests($0.latency.mean)) }),
        ("p50_ms", { CSVCell.number($0.ofRequests($0.latency.p50)) }),
        ("p75_ms", { CSVCell.number($0.ofRequests($0.latency.p75)) }),
        ("p90_ms", { CSVCell.number($0.ofRequests($0.latency.p90)) }),
        ("p95_ms", { CSVCell.number($0.ofRequests($0.latency.p95)) }),
        ("p99_ms", { CSVCell.number($0.ofRequests($0.latency.p99)) }),
        ("max_ms", { CSVCell.number($0.ofRequests($0.latency.max)) }),
    ]

    private static let phases: [Figure] = RequestPhase.allCases.map { phase in
        (phase.rawValue + "_ms", { CSVCell.number($0.phases[phase.rawValue]) })
    }

    private static let others: [Figure] = [
        ("bytes_sent", { String($0.bytes.sent) }),
        ("bytes_received", { String($0.bytes.received) }),
        ("apdex", { CSVCell.number($0.ofRequests($0.apdex)) }),
        ("impact", { CSVCell.number($0.impact) }),
        ("from_spans", { $0.fromSpans.map { String($0) } ?? "" }),
        ("changed_by_rules", { $0.changedByRules.map { String($0) } ?? "" }),
    ]
}
