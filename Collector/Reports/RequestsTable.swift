import MartletTelemetry

/// A page of kept requests as text for a person.
package enum RequestsTable {
    package static func text(of report: RequestsReport) -> String {
        guard !report.requests.isEmpty else {
            return "No kept request between \(report.from) and \(report.to) matches.\n"
        }
        var table = TextTable([
            ("time (UTC)", .left), ("service", .left), ("request", .left), ("status", .right), ("ms", .right),
            ("where the time went", .left), ("trace", .left), ("id", .left),
        ])
        for request in report.requests {
            table.add([
                clock(request.time), request.service, "\(request.method) \(request.host) \(request.endpoint)",
                outcome(of: request), FigureText.fixed(request.duration, request.duration < 10 ? 1 : 0),
                PhaseBar.text(request.phases, duration: request.duration), String(request.traceID.prefix(8)),
                request.id,
            ])
        }
        return "\(heading(of: report))\n\(table.text)\n\(PhaseBar.legend)\n\(nextSteps(after: report))"
    }

    private static func heading(of report: RequestsReport) -> String {
        let shown = report.requests.count == report.count ? "" : "; \(report.requests.count) are shown"
        return "\(report.count) kept requests match\(shown). \(report.from) to \(report.to)"
    }

    /// Returns the time of the day with milliseconds.
    private static func clock(_ time: String) -> String { String(time.dropFirst(11).dropLast()) }

    /// Returns the error if no status tells it.
    static func outcome(of request: RequestSummary) -> String {
        let status = request.status.map(String.init)
        guard let error = request.error, error != status else { return status ?? "" }
        return status.map { "\($0) \(error)" } ?? error
    }

    private static func nextSteps(after report: RequestsReport) -> String {
        let next = report.next.map { "Earlier in the list:  --before \($0)\n" } ?? ""
        return "\(next)Show one:  martlet-collector requests show \(report.requests[0].id)\n"
    }
}
