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
        ("is_of_spans", { String($0.isOfSpans) }),
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
    ]

    private static func count(_ count: UInt64?) -> String { count.map { String($0) } ?? "" }
}
