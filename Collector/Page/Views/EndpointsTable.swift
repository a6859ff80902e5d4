import MartletReports
import MartletStorage
import MartletTelemetry

/// The endpoints of the overview. The store sorts all endpoints, not only those shown.
struct EndpointsTable {
    /// The maximum length of an endpoint's name, in bytes. The endpoint's page shows all of it.
    private static let nameBytes = 200

    let overview: Overview
    private var pageRequest: PageRequest { overview.pageRequest }
    private var report: Report { overview.endpoints }

    var html: HTML {
        element("section", Attribute("aria-labelledby", "h-endpoints")) {
            head
            DataTable.html("grid cards endpoints", heading: "h-endpoints") {
                DataTable.head {
                    DataTable.title("first", "Endpoint")
                    for figure in ReportFigure.onPage { title(of: figure) }
                    DataTable.title("trend", "p95 trend")
                    DataTable.title("num", "Last seen")
                    if let comparison = report.compare {
                        DataTable.title("change", "Compared with \(ComparisonBaseText.noun(comparison))")
                    }
                }
                DataTable.body { for index in report.rows.indices { row(index) } }
                DataTable.foot { total }
            }
            more
            if let sentence = EqualSiblings.sentence(about: report) {
                element("p", .class("hint")) { sentence + "." }
            }
            GoneEndpoints(overview)?.html ?? .none
            CommandLine(overview.pageRequest, report: overview.parameters).html
        }
    }

    private var head: HTML {
        element("div", .class("bar-head")) {
            element("h2", .id("h-endpoints")) {
                "Endpoints "
                element("span", .class("count")) { FigureText.grouped(UInt64(report.rowCount)) }
            }
            element("nav", .class("tabs"), .label("Side of the requests")) {
                tab("Outgoing", .client)
                tab("Incoming", .server)
            }
            comparisons
            element("p", .class("aside")) { "Every number opens its requests." }
            sortForm
        }
    }

    private var windowBefore: String {
        ComparisonBaseText.window(seconds: UInt64(pageRequest.window.seconds.rounded()), .previous)
    }

    private var comparisons: HTML {
        element("nav", .class("tabs"), .label("Compare with")) {
            element("span", .class("label")) { "Compare with" }
            for (base, title) in [
                ("previous", "the \(windowBefore)"), ("day", "a day earlier"), ("week", "a week earlier"),
                (PageRequest.noComparison, "nothing"),
            ] {
                HTML(
                    "a",
                    (base == (pageRequest.comparison ?? PageRequest.noComparison)
                        ? [Attribute("aria-current", "true")] : [])
                        + [.href(pageRequest.here.with(.compare, base))], content: HTML(title))
            }
        }
    }

    private func tab(_ title: String, _ kind: RequestKind) -> HTML {
        HTML(
            "a",
            (kind == overview.kind ? [Attribute("aria-current", "true")] : [])
                + [.href(pageRequest.here.with(.kind, kind.rawValue))], content: HTML(title))
    }

    /// The sort order for cards, which have no column titles.
    private var sortForm: HTML {
        Form.get(
            pageRequest.base, .class("sortby"), keeping: pageRequest.parameters, leavingOut: [.sort, .ascending]
        ) {
            Form.select(
                "Sort by", .sort,
                ReportFigure.onPage.compactMap { figure in figure.order.map { ($0.rawValue, figure.heading) } },
                pageRequest.parameters[.sort] ?? "impact")
            Form.check("ascending", .ascending, isOn: pageRequest.parameters[.ascending] == "true")
            element("button") { "Sort" }
        }
    }

    /// A title that sorts by its column, or reverses the order if it is already sorted so. Not every figure has an order.
    private func title(of figure: ReportFigure) -> HTML {
        guard let key = figure.order else { return DataTable.title("num", figure.heading) }
        let isCurrent = (pageRequest.parameters[.sort] ?? GroupOrder.Measure.impact.rawValue) == key.rawValue
        let isAscending = pageRequest.parameters[.ascending] == "true"
        let address = pageRequest.here.with([
            (.sort, key.rawValue), (.ascending, isCurrent && !isAscending ? "true" : nil),
        ])
        let order = isCurrent ? [Attribute("aria-sort", isAscending ? "ascending" : "descending")] : []
        return HTML(
            "th", [Attribute("scope", "col"), .role("columnheader"), .class("num")] + order,
            content: link(address) {
                figure.heading
                if isCurrent { (isAscending ? Icon.up : .down).html }
            })
    }

    private func row(_ index: Int) -> HTML {
        let row = report.rows[index]
        let measures = row.measures
        let requests = Self.requests(of: row, pageRequest, overview.kind)
        return DataTable.row {
            name(of: row)
            DataTable.cell(ReportFigure.impact.title, "num barred") {
                element("span") { FigureText.fixed(measures.impact * 100, 1) }
                ShareBar.html(measures.impact / greatest(\.impact))
            }
            count(of: measures, requests)
            DataTable.cell(ReportFigure.failureRate.title, "num barred") {
                link(requests.with(.failed, "true")) { ReportFigure.failureRate.text(measures) }
                ShareBar.html(measures.failures.rate / greatest(\.failures.rate), isBad: isWorse(row))
                IncompleteNotice.bounds(overview.incompleteness.bounds(measures, of: row.text(of: .service)))
            }
            quantiles(of: measures, requests.with(.sort, "duration"))
            DataTable.cell(ReportFigure.hung.title, "num") {
                if measures.failures.hung > 0 {
                    link(requests.with(.error, "hung")) { Figure.fault(measures.failures.hung) }
                } else {
                    Figure.fault(0)
                }
            }
            DataTable.cell("p95 trend", "trend") {
                TrendLine.html(
                    row.trend?.p95 ?? [], height: 22,
                    label: "p95 of \(EndpointName.text(row.text(of: .method), row.text(of: .endpoint))) over time")
            }
            DataTable.cell("last seen", "num") { Figure.age(of: row.lastSeen, at: pageRequest.now) }
            if let verdict = row.verdict { DataTable.cell("compared", "change") { VerdictCell.html(verdict) } }
        }
    }

    private func name(of row: ReportRow) -> HTML {
        DataTable.name {
            link(Self.address(of: row, pageRequest, overview.kind), .class("name")) {
                element("span", .class("method")) { row.text(of: .method) }
                element("span", .class("tpl")) { LongText.html(Self.endpoint(of: row), atMost: Self.nameBytes) }
            }
            element("span", .class("sub")) {
                pageRequest.service(row.text(of: .service))
                let (host, system) = (row.text(of: .host), row.text(of: .system))
                let place = HostName.text(host, system: system)
                overview.kind == .client ? " → \(place)" : host.isEmpty && system.isEmpty ? "" : ", at \(place)"
            }
            if let changed = row.measures.changedByRules {
                element("span", .class("sub warntext")) { "\(FigureText.grouped(changed)) changed by rules" }
            }
        }
    }

    /// Returns the endpoint of a row, to follow its method.
    static func endpoint(of row: ReportRow) -> String {
        EndpointName.text(row.text(of: .endpoint), after: row.text(of: .method))
    }

    private func count(of measures: RequestMeasures, _ requests: PageAddress) -> HTML {
        DataTable.cell(ReportFigure.count.title, "num") {
            link(requests) { ReportFigure.count.text(measures) }
            element("span", .class("sub num")) { "\(FigureText.figure(measures.perSecond))/s" }
        }
    }

    private func quantiles(of measures: RequestMeasures, _ requests: PageAddress) -> HTML {
        HTML.joined(
            ReportFigure.titledLatency.map { figure in
                DataTable.cell(figure.title, "num") { link(requests) { Figure.milliseconds(figure.text(measures)) } }
            })
    }

    private func isWorse(_ row: ReportRow) -> Bool {
        if case .worse = row.verdict { true } else { false }
    }

    private var total: HTML {
        let measures = report.totals.measures
        let requests = pageRequest.countedRequests.with(.kind, overview.kind.rawValue)
        return DataTable.row {
            DataTable.name {
                report.rowCount == 1 ? "The endpoint" : "All \(FigureText.grouped(UInt64(report.rowCount))) endpoints"
            }
            DataTable.cell(ReportFigure.impact.title, "num") { "100.0" }
            count(of: measures, requests)
            DataTable.cell(ReportFigure.failureRate.title, "num") {
                link(requests.with(.failed, "true")) { ReportFigure.failureRate.text(measures) }
                element("span", .class("sub num")) { FigureText.grouped(measures.failures.count) }
                IncompleteNotice.bounds(overview.incompleteness.bounds(measures))
            }
            quantiles(of: measures, requests.with(.sort, "duration"))
            DataTable.cell(ReportFigure.hung.title, "num") { Figure.fault(measures.failures.hung) }
            DataTable.cell("p95 trend", "trend") {
                TrendLine.html(
                    overview.totals.slots.map { $0.measures?.latency.p95 }, height: 22, label: "p95 of all over time")
            }
            DataTable.cell("last seen", "num") { Figure.age(of: report.totals.lastSeen, at: pageRequest.now) }
            if report.compare != nil {
                DataTable.cell("compared", "change") {
                    element("span", .class("why")) { "totals mix endpoints and get no verdict" }
                }
            }
        }
    }

    private var more: HTML {
        guard report.isCut else { return .none }
        let shown = report.shownOfAll
        return element("p", .class("hint")) {
            shown.capitalizedFirst + "; totals are of all rows. "
            link(pageRequest.here.with(.top, String(report.rowCount))) { "Show all" }
        }
    }

    /// Returns the address of an endpoint's view, with the same comparison.
    static func address(of row: ReportRow, _ pageRequest: PageRequest, _ kind: RequestKind) -> PageAddress {
        selecting(row, kind, at: pageRequest.selected(.endpoint)).with(.compare, pageRequest.parameters[.compare])
    }

    private static func requests(of row: ReportRow, _ pageRequest: PageRequest, _ kind: RequestKind) -> PageAddress {
        selecting(row, kind, at: pageRequest.countedRequests)
    }

    /// Returns an address with the filters that select the requests of a row. HTTP needs no filter by system.
    static func selecting(_ row: ReportRow, _ kind: RequestKind, at address: PageAddress) -> PageAddress {
        let system = row.text(of: .system)
        let all = address.with([
            (.service, row.text(of: .service)), (.kind, kind.rawValue), (.method, row.text(of: .method)),
            (.host, row.text(of: .host)), (.endpoint, row.text(of: .endpoint)),
        ])
        return system.isEmpty ? all : all.with(.system, system)
    }

    private func greatest(_ figure: (RequestMeasures) -> Double) -> Double {
        report.rows.map { figure($0.measures) }.max() ?? 0
    }
}

/// The endpoints that had requests on the other side of a comparison and have none now.
struct GoneEndpoints {
    /// The id of the heading.
    static let id = "h-gone"
    /// The maximum number of rows.
    private static let maxRows = 20

    let comparison: ReportComparison
    let pageRequest: PageRequest
    let kind: RequestKind

    /// Returns `nil` if nothing is compared, or if no endpoint is gone.
    init?(_ overview: Overview) {
        guard let comparison = overview.endpoints.compare, comparison.goneCount > 0 else { return nil }
        self.comparison = comparison
        (pageRequest, kind) = (overview.pageRequest, overview.kind)
    }

    var sentence: String {
        let (count, base) = (comparison.goneCount, ComparisonBaseText.noun(comparison))
        return
            "\(FigureText.counted(count, "endpoint")) had requests in \(base) and \(count == 1 ? "has" : "have") none now"
    }

    var html: HTML {
        element("section", .class("below"), Attribute("aria-labelledby", Self.id)) {
            element("div", .class("bar-head")) { element("h3", .id(Self.id)) { sentence } }
            DataTable.html("grid cards gone", heading: Self.id) {
                DataTable.head {
                    DataTable.title("first", "Endpoint")
                    DataTable.title("", "Service")
                    DataTable.title("num", "Requests before")
                    DataTable.title("num", "Failed before %")
                }
                DataTable.body { for gone in comparison.gone.prefix(Self.maxRows) { row(gone) } }
            }
            if comparison.goneCount > Self.maxRows {
                element("p", .class("hint")) {
                    "The \(Self.maxRows) that took the most time in \(ComparisonBaseText.noun(comparison))."
                }
            }
        }
    }

    private func row(_ row: ReportRow) -> HTML {
        let requests = address(of: row, at: pageRequest.countedRequests)
        return DataTable.row {
            DataTable.name {
                link(address(of: row, at: pageRequest.selected(.endpoint)), .class("name")) {
                    element("span", .class("method")) { row.text(of: .method) }
                    element("span", .class("tpl")) { EndpointsTable.endpoint(of: row) }
                }
                element("span", .class("sub")) {
                    HostName.text(row.text(of: .host), system: row.text(of: .system))
                }
            }
            DataTable.cell("service", "host") { pageRequest.service(row.text(of: .service)) }
            DataTable.cell("requests before", "num") { link(requests) { FigureText.grouped(row.measures.count) } }
            DataTable.cell("failed before %", "num") {
                link(requests.with(.failed, "true")) { FigureText.percent(row.measures.failures.rate) }
            }
        }
    }

    /// Returns the address of an endpoint's view or of its requests, in the window in which it had requests.
    private func address(of row: ReportRow, at view: PageAddress) -> PageAddress {
        let address = EndpointsTable.selecting(row, kind, at: view).with([
            (.since, comparison.from), (.until, comparison.to), (.compare, nil),
        ])
        return ComparisonBase.versions(in: comparison.base).map { address.with(.version, $0.before) } ?? address
    }
}
