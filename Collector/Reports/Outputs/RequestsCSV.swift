import MartletTelemetry

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
