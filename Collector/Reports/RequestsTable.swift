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
                time(of: request, in: report), request.service, "\(request.method) \(request.host) \(request.endpoint)",
                outcome(of: request), FigureText.fixed(request.duration, request.duration < 10 ? 1 : 0),
                PhaseBar.text(request.phases, duration: request.duration), String(request.traceID.prefix(8)),
                request.id,
            ])
        }
        return "\(heading(of: report))\n\(table.text)\n\(PhaseBar.legend)\n\(nextSteps(after: report))"
    }

    private static func heading(of report: RequestsReport) -> String {
        let shown = report.requests.count == report.count ? "" : ", \(report.requests.count) are shown"
        let noun = report.count == 1 ? "request" : "requests"
        return "\(report.count) kept \(noun) from \(report.from) to \(report.to)\(shown)"
    }

    /// Returns the time of the day with milliseconds, after the date if the window has more than one.
    private static func time(of request: RequestSummary, in report: RequestsReport) -> String {
        let isOneDay = report.from.prefix(10) == report.to.prefix(10)
        let text = request.time.dropLast()
        return isOneDay ? String(text.dropFirst(11)) : String(text.replacing("T", with: " "))
    }

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
