import MartletStorage
import MartletTelemetry

/// A report as CSV (RFC 4180): a line of names, and a line for each row. The names and their order are a fixed format.
package enum ReportCSV {
    package static func text(of report: Report) -> String {
        let names = ["from", "to", "completeness"] + report.by.map(\.rawValue) + ReportFigure.all.map(\.key)
        let compared = report.compare == nil ? [] : ComparisonCSV.names
        let window = [CSVCell.text(report.from), CSVCell.text(report.to), CSVCell.number(report.completeness)]
        var text = CSVCell.line(names + compared)
        for row in report.rows {
            let values = report.by.map { CSVCell.text(row.text(of: $0)) }
            let others = report.compare.map { ComparisonCSV.cells(of: row, $0) } ?? []
            text += CSVCell.line(window + values + ReportFigure.all.map { $0.csv(row.measures) } + others)
        }
        return text
    }
}

/// The columns of CSV that a comparison adds at the end. The names and their order are a fixed format.
enum ComparisonCSV {
    static let names = [
        "before_from", "before_to", "before_completeness", "before_count", "before_failure_rate", "before_p50_ms",
        "before_p95_ms", "before_p99_ms", "verdict", "would_have_seen_failures", "would_have_seen_p95",
    ]

    static func cells(of row: ReportRow, _ comparison: ReportComparison) -> [String] {
        window(comparison) + before(row.before) + verdict(row.verdict)
    }

    private static func window(_ comparison: ReportComparison) -> [String] {
        [CSVCell.text(comparison.from), CSVCell.text(comparison.to), CSVCell.number(comparison.completeness)]
    }

    private static func before(_ measures: RequestMeasures?) -> [String] {
        [
            "\(measures?.count ?? 0)", CSVCell.number(measures?.failures.rate), CSVCell.number(measures?.latency.p50),
            CSVCell.number(measures?.latency.p95), CSVCell.number(measures?.latency.p99),
        ]
    }

    private static func verdict(_ verdict: Verdict?) -> [String] {
        switch verdict {
        case .worse?: ["worse", "", ""]
        case .better?: ["better", "", ""]
        case .noChangeFound(let seen)?: ["same", CSVCell.number(seen.failures), CSVCell.number(seen.p95)]
        case .tooLittleData?: ["too_little_data", "", ""]
        case nil: ["", "", ""]
        }
    }
}

/// Kept requests as CSV (RFC 4180): a line of names, and a line for each request. The names and their order are a fixed format.
package enum RequestsCSV {
    package static func text(of report: RequestsReport) -> String {
        CSVCell.line(cells.map(\.name))
            + report.requests.map { request in CSVCell.line(cells.map { $0.value(request) }) }.joined()
    }

    private typealias Cell = (name: String, value: @Sendable (RequestSummary) -> String)

    private static let cells: [Cell] = sender + request + figures + phases + trace

    private static let sender: [Cell] = [
        ("id", { CSVCell.text($0.id) }),
        ("time", { CSVCell.text($0.time) }),
        ("service", { CSVCell.text($0.service) }),
        ("environment", { CSVCell.text($0.environment ?? "") }),
        ("version", { CSVCell.text($0.version ?? "") }),
        ("instance", { CSVCell.text($0.instance) }),
    ]

    private static let request: [Cell] = [
        ("kind", { $0.kind.rawValue }),
        ("system", { CSVCell.text($0.system ?? "") }),
        ("method", { CSVCell.text($0.method) }),
        ("host", { CSVCell.text($0.host) }),
        ("endpoint", { CSVCell.text($0.endpoint) }),
        ("url", { CSVCell.text($0.url ?? "") }),
        ("status", { $0.status.map(String.init) ?? "" }),
        ("error", { CSVCell.text($0.error ?? "") }),
        ("rule", { CSVCell.text($0.rule ?? "") }),
        ("message", { CSVCell.text($0.message ?? "") }),
        ("failed", { String($0.failed) }),
    ]

    private static let figures: [Cell] = [
        ("duration_ms", { CSVCell.number($0.duration) }),
        ("bytes_sent", { $0.bytes.sent.map(String.init) ?? "" }),
        ("bytes_received", { $0.bytes.received.map(String.init) ?? "" }),
    ]

    private static let phases: [Cell] = RequestPhase.allCases.map { phase in
        (phase.rawValue + "_ms", { CSVCell.number($0.phases[phase.rawValue]) })
    }

    private static let trace: [Cell] = [
        ("trace_id", { $0.traceID }),
        ("span_id", { $0.spanID }),
        ("parent_span_id", { $0.parentSpanID ?? "" }),
    ]
}

/// The edges of the map as CSV (RFC 4180): a line of names, and a line for each edge. The names and their order are a fixed format.
package enum MapCSV {
    package static func text(of report: MapReport) -> String {
        let window = [CSVCell.text(report.from), CSVCell.text(report.to), CSVCell.number(report.completeness)]
        return CSVCell.line(["from", "to", "completeness"] + cells.map(\.name))
            + report.edges.map { edge in CSVCell.line(window + cells.map { $0.value(edge) }) }.joined()
    }

    private typealias Cell = (name: String, value: @Sendable (CallEdge) -> String)

    private static let cells: [Cell] =
        ends + figures("sent") { $0.sent } + losses + figures("arrived") { $0.arrived } + callers

    private static let ends: [Cell] = [
        ("caller_service", { CSVCell.text($0.caller.service ?? "") }),
        ("caller_host", { CSVCell.text($0.caller.host ?? "") }),
        ("callee_service", { CSVCell.text($0.callee.service ?? "") }),
        ("callee_host", { CSVCell.text($0.callee.host ?? "") }),
        ("host", { CSVCell.text($0.host) }),
        ("served_hosts", { CSVCell.text($0.servedHosts.joined(separator: " ")) }),
        ("is_of_spans", { String($0.comesFromSpans) }),
    ]

    private static func figures(_ prefix: String, _ side: @escaping @Sendable (CallEdge) -> CallFigures?) -> [Cell] {
        [
            ("\(prefix)_count", { count(side($0)?.count) }),
            ("\(prefix)_per_second", { CSVCell.number(side($0)?.perSecond) }),
            ("\(prefix)_failures", { count(side($0)?.failures.count) }),
            ("\(prefix)_failure_rate", { CSVCell.number(side($0)?.failures.rate) }),
            ("\(prefix)_p50_ms", { CSVCell.number(side($0)?.latency.p50) }),
            ("\(prefix)_p95_ms", { CSVCell.number(side($0)?.latency.p95) }),
            ("\(prefix)_p99_ms", { CSVCell.number(side($0)?.latency.p99) }),
        ]
    }

    private static let losses: [Cell] = [
        ("lost", { count($0.lost) }),
        ("lost_errors", { CSVCell.text(($0.lostErrors ?? []).joined(separator: " ")) }),
        ("unanswered", { count($0.unanswered) }),
    ]

    private static let callers: [Cell] = [
        ("shared_by", { $0.sharedBy.map(String.init) ?? "" }),
        ("sent_by_all", { count($0.sentByAll) }),
        ("from_outside", { count($0.fromOutside) }),
        ("uncounted", { count($0.uncounted) }),
        ("system", { CSVCell.text($0.system ?? "") }),
    ]

    private static func count(_ count: UInt64?) -> String { count.map { String($0) } ?? "" }
}

/// A cell of CSV.
enum CSVCell {
    /// Returns a line of cells, with its end.
    static func line(_ cells: [String]) -> String { cells.joined(separator: ",") + "\r\n" }

    /// Returns a number with all its digits; empty if it is unknown.
    static func number(_ value: Double?) -> String { value.map { $0.isFinite ? "\($0)" : "" } ?? "" }

    /// Returns a text that no spreadsheet reads as a formula. Characters that would control a terminal are escaped.
    static func text(_ text: String) -> String {
        let plain = TerminalText.plain(text)
        let isFormula = text.unicodeScalars.first.map { "=+-@\t\r\n".unicodeScalars.contains($0) } ?? false
        guard isFormula || !plain.utf8.allSatisfy(isSafe) else { return plain }
        return "\"" + (isFormula ? "'" : "") + doubled(plain) + "\""
    }

    /// Returns the text with each quote doubled (RFC 4180, section 2). It works on Unicode scalars, because a quote followed by a
    /// combining mark is a different character but still a quote.
    private static func doubled(_ text: String) -> String {
        text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined()
    }

    /// Whether a byte is safe in a cell without quotes, whatever separator a program uses.
    private static func isSafe(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "._-/:{}[]*".utf8.contains(byte)
        }
    }
}
