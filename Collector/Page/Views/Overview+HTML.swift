import MartletReports
import MartletStorage
import MartletTelemetry

extension Overview {
    package var html: HTML {
        let title = "Overview: \(visit.titleOfScope)"
        let frame = PageFrame(visit: visit, facts: facts)
        if let empty {
            return frame.document(title, view: .overview, hasScope: empty.hasScope) {
                empty.html
                IncompleteNotice(visit: visit, incompleteness: incompleteness).html
                if empty.hasScope { CommandLine(visit, report: visit.report(of: wanted, by: [.service, .kind])).html }
            }
        }
        return frame.document(title, view: .overview) {
            leadIn
            FilterChips(beside: visit).html
            IncompleteNotice(visit: visit, incompleteness: incompleteness).html
            rules.html
            element("section", Attribute("aria-labelledby", "h-totals")) {
                element("h2", .id("h-totals"), .class("vh")) {
                    kind == .client ? "All requests made" : "All requests served"
                }
                TotalsStrip(
                    totals: totals, requests: visit.countedRequests.with(.kind, kind.rawValue),
                    bounds: totals.measures.flatMap { incompleteness.bounds($0) }
                ).html
            }
            ServicesTable(visit: visit, services: services, incompleteness: incompleteness).html
            HostsTable(visit: visit, called: hosts).html
            EndpointsTable(overview: self).html
        }
    }

    /// The answer in a sentence, and the endpoints that it is about.
    private var leadIn: HTML {
        let comparison = ComparisonText(endpoints)
        return element("section", .class("lead-in" + tone), .label("The answer")) {
            element("h1") {
                (isWorse ? Icon.up : isJudged ? .good : .few).html
                isJudged ? comparison?.answer ?? sentence : sentence
            }
            if !changed.isEmpty || isTooMuchToCompare {
                element("p") {
                    if isTooMuchToCompare { "There are too many endpoints to compare them all; choose a service. " }
                    changes
                }
            }
            if let gone = GoneEndpoints(self) {
                element("p") {
                    jump(to: GoneEndpoints.id) { gone.sentence }
                    "."
                }
            }
            if !isJudged, let answer = comparison?.answer { element("p") { answer } }
            for note in comparison?.notes ?? [] { element("p", .class("hint")) { note + "." } }
        }
    }

    /// Whether there is enough data to compare an endpoint.
    private var isJudged: Bool { endpoints.compare.map { $0.worse + $0.better + $0.same > 0 } ?? false }

    private var isWorse: Bool { (endpoints.compare?.worse ?? 0) > 0 }

    private var tone: String { isWorse ? "" : isJudged ? " good" : " warn" }

    /// The endpoints that changed for the worse, and then those that changed for the better.
    private var changed: [(row: ReportRow, verdict: Verdict)] {
        let rows = endpoints.rows.compactMap { row in row.verdict.map { (row, $0) } }
        return rows.filter { if case .worse = $0.1 { true } else { false } }
            + rows.filter { if case .better = $0.1 { true } else { false } }
    }

    /// Endpoints that a sentence names at most.
    private static let maxNamed = 4

    private var changes: HTML {
        let shown = changed.prefix(Self.maxNamed)
        return HTML.joined(
            shown.map { row, verdict in
                HTML.joined([
                    link(EndpointsTable.address(of: row, visit, kind)) {
                        row.text(of: .method) + " " + row.text(of: .endpoint)
                    },
                    HTML(": \(VerdictText.word(verdict)), \(VerdictText.changes(verdict))\(since(row)). "),
                ])
            })
    }

    /// Returns the time of a row's change after a comma; empty if it is not known.
    private func since(_ row: ReportRow) -> String {
        row.changed.map { ", " + $0.text { ClockText.moment($0, in: visit.window) } } ?? ""
    }

    /// The answer where nothing is compared.
    private var sentence: String {
        let measures = endpoints.totals.measures
        guard measures.count > 0 else { return "No requests" }
        let failed = measures.failures.count == 0 ? "None" : FigureText.grouped(measures.failures.count)
        return "\(failed) of \(FigureText.counted(measures.count, "request")) failed"
    }
}

extension Visit {
    /// The window and the environment, as a title has them.
    var titleOfScope: String {
        let window =
            parameters[.until] == nil
            ? Self.title(since: parameters[.since] ?? PageParameter.defaultSince)
            : "\(TimeText.format(self.window.from)) to \(TimeText.format(self.window.to))"
        return titleOfScope(in: window)
    }

    /// The environment and the services beside a window of its own, as a title has them.
    func titleOfScope(in window: String) -> String {
        ([window] + parameters.all(.environment) + parameters.all(.service)).joined(separator: ", ")
    }

    /// The time from a moment, or from a length of time ago, as a title has it.
    static func title(since: String) -> String { (TimeText.nanoseconds(since) == nil ? "since " : "last ") + since }
}
