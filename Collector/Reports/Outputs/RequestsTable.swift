import MartletTelemetry

/// A page of kept requests as text for a person.
package enum RequestsTable {
    /// - Parameter source: the flags that tell where the requests are kept.
    package static func text(
        of report: RequestsReport, from source: [CommandFlag] = [], on device: OutputDevice = .file
    ) -> String {
        guard !report.requests.isEmpty else { return nothing(in: report) + "\n" }
        var table = TextTable([
            TextTable.Column(title: "time (UTC)"), TextTable.Column(title: "service", isName: true),
            TextTable.Column(title: "request", isName: true), TextTable.Column(title: "status", isName: true),
            TextTable.Column(title: "ms", alignment: .figure), TextTable.Column(title: "where the time went", rank: 1),
            TextTable.Column(title: "trace", rank: 0), TextTable.Column(title: "id"),
        ])
        table.addTitles()
        for request in report.requests {
            let cells = [
                time(of: request, in: report), request.service, name(of: request),
                outcome(of: request), FigureText.figure(request.duration),
                PhaseBar.text(of: request), String(request.traceID.prefix(8)),
                request.id,
            ]
            table.add(cells.map { TextTable.Cell($0) })
        }
        return
            "\(heading(of: report))\n\(table.text(on: device))\n\(PhaseBar.legendOfList)\n\(nextSteps(after: report, source))"
    }

    static func nothing(in report: RequestsReport) -> String {
        "No kept request between \(report.from) and \(report.to) matches."
    }

    static func heading(of report: RequestsReport) -> String {
        let shown = report.requests.count == report.count ? "" : ", \(report.requests.count) are shown"
        let noun = report.count == 1 ? "request" : "requests"
        return "\(report.count) kept \(noun) from \(report.from) to \(report.to)\(shown)"
    }

    /// Returns the time of the day with milliseconds, after the date if the window has more than one.
    package static func time(of request: RequestSummary, in report: RequestsReport) -> String {
        let isOneDay = report.from.prefix(10) == report.to.prefix(10)
        let text = request.time.dropLast()
        return isOneDay ? String(text.dropFirst(11)) : String(text.replacing("T", with: " "))
    }

    /// A server's request may have no host.
    private static func name(of request: RequestSummary) -> String {
        [request.method, request.host, request.endpoint].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Returns the error if no status tells it.
    package static func outcome(of request: RequestSummary) -> String {
        let status = request.status.map(String.init)
        guard let error = request.error, error != status else { return status ?? "" }
        return status.map { "\($0) \(error)" } ?? error
    }

    private static func nextSteps(after report: RequestsReport, _ source: [CommandFlag]) -> String {
        let next = report.next.map { "Next page:  --before \($0)\n" } ?? ""
        return "\(next)Show one:  \(CommandText.text("requests show \(report.requests[0].id)", source))\n"
    }
}
