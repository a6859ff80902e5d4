import MartletStorage
import MartletTelemetry

/// A page of kept requests for a person to read.
package enum RequestsTable {
    private static let phases = "where the time went"

    /// - Parameters:
    ///   - source: the flags that say where the requests are kept.
    ///   - first: the index of the first request in the table.
    package static func text(
        of report: RequestsReport, from source: [CommandFlag] = [], on device: OutputDevice = .file, first: Int = 0
    ) -> String {
        guard !report.requests.isEmpty else { return nothing(in: report) + "\n" }
        var table = TextTable([
            TextTable.Column(title: "time (UTC)"), TextTable.Column(title: "service", isName: true),
            TextTable.Column(title: "request", isName: true), TextTable.Column(title: "status", isName: true),
            TextTable.Column(title: "ms", alignment: .figure), TextTable.Column(title: phases, rank: 1),
            TextTable.Column(title: "trace", rank: 0), TextTable.Column(title: "id"),
        ])
        table.addTitles()
        let requests = report.requests.dropFirst(first)
        let bars = requests.map(PhaseBar.text)
        for (request, bar) in zip(requests, bars) {
            let cells = [
                time(of: request, in: report), request.service, name(of: request),
                outcome(of: request), FigureText.figure(request.duration),
                bar, String(request.traceID.prefix(8)),
                request.id,
            ]
            table.add(cells.map { TextTable.Cell($0) })
        }
        let hasBars = bars.contains { !$0.isEmpty } && !table.leftOut(on: device).contains(phases)
        let legend = hasBars ? PhaseBar.legendOfList + "\n" : ""
        let steps = nextSteps(after: report, from: requests.first ?? report.requests[0], source)
        return "\(heading(of: report))\n\(table.text(on: device))\n\(legend)\(steps)"
    }

    fileprivate static func nothing(in report: RequestsReport) -> String {
        "No kept request between \(TimeText.inSeconds(report.from)) and \(TimeText.inSeconds(report.to)) matches."
    }

    private static func heading(of report: RequestsReport) -> String {
        let count = report.requests.count
        let shown =
            count == report.count ? "" : ", \(FigureText.grouped(UInt64(count))) \(count == 1 ? "is" : "are") shown"
        let window = "from \(TimeText.inSeconds(report.from)) to \(TimeText.inSeconds(report.to))"
        return "\(FigureText.counted(report.count, "kept request")) \(window)\(shown)"
    }

    /// Returns the time of day with milliseconds, after the date if the window has more than one day.
    package static func time(of request: RequestSummary, in report: RequestsReport) -> String {
        let isOneDay = report.from.prefix(10) == report.to.prefix(10)
        let text = request.time.dropLast()
        return isOneDay ? String(text.dropFirst(11)) : String(text.replacing("T", with: " "))
    }

    /// Returns the name of a request. An incoming one may have no host.
    static func name(of request: RequestSummary) -> String {
        [request.method, request.host, EndpointName.text(request.endpoint, after: request.method)]
            .filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Returns the status and the error, or only one of them if they are equal or the other is missing. A system answers without
    /// a status.
    package static func outcome(of request: RequestSummary) -> String {
        let status = request.status.map(String.init)
        guard let error = request.error, error != status else { return status ?? (request.system == nil ? "" : "ok") }
        return status.map { "\($0) \(error)" } ?? error
    }

    private static func nextSteps(
        after report: RequestsReport, from first: RequestSummary, _ source: [CommandFlag]
    ) -> String {
        let next = report.next.map { "Next page:  --before \($0)\n" } ?? ""
        return "\(next)Show one:  \(CommandText.text("requests show \(first.id)", source))\n"
    }
}

/// Explains why a list of kept requests is empty.
package struct EmptyRequests {
    private let list: RequestsReport
    private let query: RequestsQuery
    private let counted: Report
    private let context: ReportContext

    /// - Parameters:
    ///   - query: the query of the list.
    ///   - counted: the report on all requests that match the filters by dimension.
    ///   - context: the context that explains this report if it has no rows.
    package init(_ list: RequestsReport, _ query: RequestsQuery, counted: Report, _ context: ReportContext) {
        (self.list, self.query, self.counted, self.context) = (list, query, counted, context)
    }

    /// A sentence, and a command to copy if one helps.
    package var text: String {
        if counted.rows.isEmpty { return NoResultsText.sentence(of: counted, context, for: "requests") }
        let measures = counted.totals.measures
        let count = query.onlyFailed ? measures.failures.count : measures.count
        let between = "between \(TimeText.inSeconds(list.from)) and \(TimeText.inSeconds(list.to))"
        if count == 0 { return "None of the \(FigureText.counted(measures.count, "request")) \(between) failed.\n" }
        guard !isNarrower else { return RequestsTable.nothing(in: list) + "\n" }
        let noun = query.onlyFailed ? "failed request" : "request"
        return
            "\(FigureText.counted(count, noun)) \(count == 1 ? "was" : "were") counted \(between), and none of them is kept.\n"
    }

    /// Whether the list has conditions that counted requests cannot be filtered by.
    private var isNarrower: Bool {
        query.slowerThan != nil || query.fasterThan != nil || query.text != nil || query.before != nil
    }
}
