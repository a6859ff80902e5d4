import MartletFindings
import MartletReports
import MartletStorage
import MartletTelemetry

/// The requests of one endpoint, or of any other selection of one kind. The view shows when they changed, on which side, and with
/// which errors.
package struct Endpoint: Sendable {
    /// The number of slots in the charts.
    static let slots: UInt64 = 30
    /// Ends of processes that charts mark at most, the latest.
    private static let maxEnds = 100
    /// Returns the number of slots for finding when failures of a kind first and last occurred. In an hour the slots are as
    /// short as a sender's interval. A window of more than six hours has fewer slots, because with short ones a store would
    /// have to read tens of thousands of points.
    static func slotsOfTimes(in window: TimeWindow) -> UInt64 { window.seconds <= 6 * 3600 ? 360 : slots }
    /// The maximum number of kinds of failures in the list.
    static let maxFailures = 50

    let pageRequest: PageRequest
    let facts: FrameData
    /// The kind of requests that is shown.
    let kind: RequestKind
    /// Whether the selection has requests of the other kind too, so that the person can switch.
    let hasBothKinds: Bool
    /// The window of the figures.
    let window: TimeWindow
    let totals: Totals
    /// All requests of the window.
    let requests: RequestGroup
    let windowBefore: WindowName
    /// All requests of the window before; `nil` if the store's figures for it are too coarse.
    let before: RequestGroup?
    /// The window of ``before``.
    let timeBefore: TimeWindow?
    let failures: FailureList
    let versions: [EndpointVersion]
    let rules: RulesNotice
    let other: OtherSide
    /// `nil` unless one service serves the endpoint.
    let calls: EndpointCalls?
    let traits: [FailureTrait]
    /// The carriers of the change if the selection is worse, or otherwise of the failures; `nil` if they were not searched.
    let who: ChangeCarriers?
    let marks: [TimeMark]
    let heatMap: HeatMap
    let examples: EndpointExamples
    /// `nil` unless the selection is a whole service.
    let processes: ServiceProcesses?
    /// `nil` if there is something to show.
    let empty: NoResultsView?
    /// The selection as one compared row; `nil` if no endpoint is selected, or if the address turns the comparison off.
    let compared: Report?

    /// - Parameters:
    ///   - histories: the pasts of rows in this store; `nil` to read those that are needed.
    ///   - findings: the answer to ``PageRequest/findingsQuestion``; `nil` for charts without marks of findings.
    /// - Throws: ``ParameterError``, ``TooManyGroups``, or the store's error.
    package init(
        _ pageRequest: PageRequest, in storage: some Storage, _ histories: RowHistories? = nil,
        findings: FindingsAnswer? = nil
    ) async throws {
        self.pageRequest = pageRequest
        facts = try await FrameData(pageRequest, in: storage)
        let wanted: RequestKind? = try pageRequest.parameters.choice(.kind)
        let guess = try EndpointQueries(pageRequest: pageRequest, kind: wanted ?? .client, window: pageRequest.window)
        var answers = try await storage.statistics([guess.overTime] + guess.all)
        let overTime = try answers.removeFirst().get()
        let kind = wanted ?? (overTime.totals[.client] != nil ? .client : .server)
        self.kind = kind
        hasBothKinds = overTime.totals.count > 1
        window = overTime.window
        totals = Totals(of: kind, in: overTime)
        requests = overTime.totals[kind] ?? RequestGroup(values: [])

        let queries = try EndpointQueries(pageRequest: pageRequest, kind: kind, window: window)
        if queries.all != guess.all { answers = try await storage.statistics(queries.all) }
        let earlier = queries.comparable(try answers[0].get())
        windowBefore = queries.windowBefore
        before = earlier.map { $0.totals[kind] ?? RequestGroup(values: []) }
        timeBefore = earlier?.window
        failures = FailureList(try answers[1].get(), before: earlier)
        let senders = try answers[2].get()
        traits = FailureTrait.all(of: requests)
        other = try await OtherSide(
            try answers.dropFirst(3).first?.get(), queries, pageRequest.filter.wanted[.service], in: storage)
        let services = Set(senders.groups.compactMap { $0.values[0] })
        calls = try await EndpointCalls(queries, in: window, of: services, from: storage)
        let agents = try await storage.agents(seenSince: queries.before.window.from, limit: AgentsReport.maxAgents)
            .agents
        let seen = SeenVersions(agents.filter { queries.environment.matches($0.resource) })
        versions = EndpointVersion.all(of: senders, kind, other.answer, seen)
        rules = RulesNotice(pageRequest, [requests], agents)
        let ends = try await Self.ends(pageRequest, in: overTime.window, from: storage)
        marks =
            versions.compactMap { version in version.new.map { TimeMark(time: $0, label: version.name) } }
            + (findings?.findings ?? []).filter { $0.kind != .ended || ends.isEmpty }
            .compactMap { $0.mark(in: overTime.window) } + ends
        heatMap = HeatMap(totals.slots.map { $0.group.statistics.duration })
        examples = try await EndpointExamples(queries.kept, in: storage)
        processes = try await ServiceProcesses(pageRequest, TimeAxis(window, marks: marks), in: storage)
        empty = totals.measures == nil ? try await NoResultsView(pageRequest, in: storage) : nil
        compared = try await Self.compared(pageRequest, kind, in: storage, histories)
        who = try await Self.carriers(
            of: compared, queries.carriersOfFailures(requests.failedCount), queries.filter, in: storage)
    }

    /// Returns marks for the processes of a service that ended without a shutdown; none for a view of several services.
    private static func ends(
        _ pageRequest: PageRequest, in window: TimeWindow, from storage: some Storage
    ) async throws -> [TimeMark] {
        guard pageRequest.filter.wanted[.service]?.count == 1 else { return [] }
        return try await storage.processEnds(in: window, pageRequest.filter, limit: maxEnds)
            .filter { $0.end.cause != .clean }
            .map { TimeMark(time: $0.end.time, label: $0.end.causeText ?? FindingKind.ended.word) }
    }

    /// - Parameter failures: the query if the selection is not worse.
    private static func carriers(
        of compared: Report?, _ failures: ChangeCarriersQuery?, _ filter: RequestFilter, in storage: some Storage
    ) async throws -> ChangeCarriers? {
        let change = compared.flatMap { report in
            report.rows.first.flatMap { report.carriersQuery(of: $0, filter) }
        }
        guard let query = change ?? failures else { return nil }
        return query.carriers(try await storage.statistics(query.queries))
    }

    private static func compared(
        _ pageRequest: PageRequest, _ kind: RequestKind, in storage: some Storage, _ histories: RowHistories?
    ) async throws -> Report? {
        guard let parameters = comparison(pageRequest, kind) else { return nil }
        var query = try parameters.query(now: pageRequest.now)
        query.step = TrendStep.fitting(pageRequest.window, slots: Self.slots)
        return try await storage.report(query, comparedWith: try parameters.comparison(of: query), histories)
    }

    /// Returns the parameters of the report that compares the selection; `nil` if no endpoint is selected, or if the address turns
    /// the comparison off.
    static func comparison(_ pageRequest: PageRequest, _ kind: RequestKind) -> ReportParameters? {
        guard pageRequest.parameters[.endpoint] != nil, let base = pageRequest.comparison else { return nil }
        var parameters = pageRequest.parameters(
            for: ReportParameter.self, leavingOut: [.kind, .compare, .sort, .ascending, .top])
        parameters.add(.kind, kind.rawValue)
        parameters.add(.by, Dimension.kind.rawValue)
        parameters.add(.compare, base)
        return parameters
    }

    var axis: TimeAxis { TimeAxis(window, marks: marks) }
}

extension Endpoint {
    package var html: HTML {
        PageFrame(pageRequest: pageRequest, facts: facts).document("\(title): \(pageRequest.titleOfScope)", view: nil) {
            heading
            rules.html
            if totals.measures == nil { processes?.html(requests(in:)) ?? .none }
            if let measures = totals.measures {
                figures(measures)
            } else if let empty {
                empty.notice
            }
            CommandLine(endpoint: self).html
        }
    }

    /// The requests that the view shows.
    var requestsAddress: PageAddress {
        pageRequest.selected(.requests).with(.kind, kind.rawValue)
    }

    /// The address of the requests in a part of the window.
    func requests(in part: TimeWindow) -> PageAddress {
        let window = part.inWholeSeconds
        return requestsAddress.with([
            (.since, TimeText.exact(window.from)), (.until, TimeText.exact(window.to)),
        ])
    }

    @HTMLBuilder private func figures(_ measures: RequestMeasures) -> HTML {
        element("section", Attribute("aria-labelledby", "h-totals")) {
            element("h2", .id("h-totals"), .class("vh")) { "Totals" }
            TotalsStrip(totals: totals, before: measuresBefore, requests: requestsAddress).html
        }
        processes?.html(requests(in:)) ?? .none
        element("div", .class("two")) {
            RateChart(slots: totals.slots, axis: axis, requests: requests(in:)).html
            QuantileChart(slots: totals.slots, axis: axis, requests: requests(in:)).html
        }
        HeatMapChart(map: heatMap, slots: totals.slots, axis: axis, requests: requests(in:)).html
        SidesSection(endpoint: self).html
        CallsSection(endpoint: self).html
        BeforeSection(endpoint: self, measures: measures).html
        element("div", .class("two")) {
            FailuresTable(endpoint: self).html
            element("section", Attribute("aria-labelledby", "h-versions")) {
                VersionsTable(endpoint: self).html
                TraitsTable(endpoint: self).html
            }
        }
        ExamplesSection(endpoint: self).html
    }

    /// Returns the parameters of a report about the requests of the view.
    func selection(leavingOut names: Set<PageParameter> = []) -> ReportParameters {
        var parameters = pageRequest.parameters(
            for: ReportParameter.self, leavingOut: names.union([.kind, .sort, .ascending, .top, .compare]))
        // If the selection has no requests, its kind is only a guess.
        parameters.add(.kind, totals.measures == nil ? pageRequest.parameters[.kind] : kind.rawValue)
        return parameters
    }

    /// The figures of the window before; `nil` if it has no requests.
    var measuresBefore: RequestMeasures? {
        before.flatMap { $0.isEmpty ? nil : $0.measures(seconds: window.seconds) }
    }
}

extension PageRequest {
    /// Returns an address with this view's window and all of its filters.
    func selected(_ address: PageAddress) -> PageAddress {
        parameters.values.filter { PageParameter.scope.contains($0.name) || $0.name.filteredDimension != nil }
            .reduce(address) { $0.adding($1.name, $1.value) }
    }
}

extension CommandLine {
    /// The failures, versions and comparison of an endpoint, as commands and as API responses.
    init(endpoint: Endpoint) {
        var parameters = endpoint.selection()
        let selection = parameters.query
        // A system answers without a status.
        let dimensions: [Dimension] = endpoint.system == nil ? [.version, .status, .error] : [.version, .error]
        for dimension in dimensions { parameters.add(.by, dimension.rawValue) }
        pageRequest = endpoint.pageRequest
        commands = [("report", parameters.commandFlags)]
        let processes = endpoint.processes.map { _ in
            (
                "JSON of processes",
                PageAddress("/api/v1/process", endpoint.pageRequest.parameters(for: ProcessParameter.self).query)
            )
        }
        formats =
            [
                ("JSON", PageAddress("/api/v1/report", parameters.query)),
                ("JSON over time", PageAddress("/api/v1/series", selection).adding("by", Dimension.kind.rawValue)),
            ] + [processes].compactMap(\.self)
        guard let comparison = Endpoint.comparison(endpoint.pageRequest, endpoint.kind) else { return }
        commands.append(("report", comparison.commandFlags))
        formats.append(("JSON of the comparison", PageAddress("/api/v1/report", comparison.query)))
    }
}

extension Endpoint {
    /// The method and the endpoint, or another selected value.
    var title: String {
        let (method, endpoint) = (text(of: .method), text(of: .endpoint))
        guard endpoint.isEmpty else { return EndpointName.text(method, endpoint) }
        let rest = [method, text(of: .host), text(of: .system), text(of: .service)].filter { !$0.isEmpty }
        return rest.first ?? (kind == .client ? "All outgoing requests" : "All incoming requests")
    }

    var heading: HTML {
        HTML.joined([
            crumbs,
            element("header", .class("title")) {
                element("div") {
                    element("h1") {
                        if text(of: .endpoint).isEmpty {
                            element("span", .class("tpl")) { title }
                        } else {
                            if !text(of: .method).isEmpty {
                                element("span", .class("method")) { text(of: .method) }
                            }
                            element("span", .class("tpl")) {
                                EndpointName.text(text(of: .endpoint), after: text(of: .method))
                            }
                        }
                    }
                    if totals.measures != nil, namesEndpoint || !text(of: .service).isEmpty {
                        element("p", .class("sub")) { ends }
                    }
                    restriction
                    sides
                }
                answer
            },
        ])
    }

    /// The selected system, such as a database. `nil` for HTTP, or if the address selects none.
    fileprivate var system: String? {
        let system = text(of: .system)
        return system.isEmpty ? nil : system
    }

    private func text(of name: PageParameter) -> String { pageRequest.parameters.all(name).joined(separator: ", ") }

    private var crumbs: HTML {
        element("nav", .class("crumbs"), .label("Path")) {
            link(pageRequest.address(of: .overview)) { "Overview" }
            if namesEndpoint {
                for service in pageRequest.parameters.all(.service).prefix(1) { pageRequest.service(service) }
            }
            for host in pageRequest.parameters.all(.host).prefix(1) {
                let address = pageRequest.address(of: .overview).with(.host, host)
                link(address.with(.system, pageRequest.parameters[.system])) { HostName.text(host) }
            }
        }
    }

    /// Whether the title names an endpoint or its method or host, and not a service or all requests.
    private var namesEndpoint: Bool {
        [PageParameter.method, .host, .endpoint].contains { pageRequest.parameters[$0] != nil }
    }

    /// The services at both ends, except those in the title.
    @HTMLBuilder private var ends: HTML {
        let own = namesEndpoint ? Set(versions.filter { $0.kind == kind }.map(\.service)).sorted() : []
        let host = text(of: .host)
        services(kind == .client ? "called by" : "served by", own, kind)
        if pageRequest.parameters[.host] != nil {
            " at "
            element("span", .class("mono")) { HostName.text(host, system: system) }
        }
        if !other.services.isEmpty {
            ", "
            services(kind == .client ? "served by" : "called by", other.services, kind == .client ? .server : .client)
        }
    }

    /// Some services of a side. Each links to its counts of the same endpoint.
    @HTMLBuilder private func services(_ word: String, _ names: [String], _ side: RequestKind) -> HTML {
        let shown = 4
        if names.isEmpty {
            side == .client ? "outgoing requests" : "incoming requests"
        } else {
            "\(word) "
            for (index, name) in names.prefix(shown).enumerated() {
                index > 0 ? ", " : ""
                let address = pageRequest.selected(.endpoint).with([(.service, name), (.kind, side.rawValue)])
                link(side == kind ? address : other.address(address)) { name }
            }
            names.count > shown ? " and \(names.count - shown) more" : ""
        }
    }

    /// Filters that the title does not name, each with a link that removes it.
    private var restriction: HTML {
        let isNamed = system != nil && pageRequest.parameters[.host] != nil
        let named: [Dimension] =
            [.service, .environment, .kind, .method, .host, .endpoint] + (isNamed ? [.system] : [])
        let names = Dimension.allCases.filter { !named.contains($0) }.map(PageParameter.init)
        let given = names.filter { pageRequest.parameters[$0] != nil }
        guard !given.isEmpty else { return .none }
        return element("p", .class("sub")) {
            "only "
            for (index, name) in given.enumerated() {
                let value = text(of: name)
                (index > 0 ? ", " : "") + "\(name.rawValue) \(value.isEmpty && name == .system ? "HTTP" : value) "
                link(pageRequest.here.with(name, nil)) { "show all" }
            }
        }
    }

    /// The choice between outgoing and incoming requests, if the selection has both.
    private var sides: HTML {
        guard hasBothKinds else { return .none }
        return element("nav", .class("tabs"), .label("Side of the requests")) {
            for (title, side) in [("Outgoing", RequestKind.client), ("Incoming", .server)] {
                HTML(
                    "a",
                    (side == kind ? [Attribute("aria-current", "true")] : [])
                        + [.href(pageRequest.here.with(.kind, side.rawValue))], content: HTML(title))
            }
        }
    }

    /// The verdict. If it names no change, the change compared with the window before follows.
    @HTMLBuilder private var answer: HTML {
        if judgement != nil || change != nil {
            element("div", .class("answer")) {
                if let (verdict, base) = judgement {
                    VerdictCell.html(verdict)
                    if let since { element("span", .class("why since")) { since } }
                    element("span", .class("why")) { "compared with \(base)" }
                }
                if let change, judgement.map({ VerdictText.changes($0.verdict).isEmpty }) ?? true {
                    element("span", .class("why")) { change }
                    if judgement?.base != "the \(windowBefore.text)" {
                        element("span", .class("why")) { "compared with the \(windowBefore.text)" }
                    }
                }
            }
        }
    }

    private var judgement: (verdict: Verdict, base: String)? {
        guard let comparison = compared?.compare, let verdict = compared?.rows.first?.verdict else { return nil }
        return (verdict, ComparisonBaseText.noun(comparison))
    }

    /// The time of the change, and the version that appeared at that time.
    private var since: String? {
        guard let changed = compared?.rows.first?.changed else { return nil }
        let text = changed.text { ClockText.moment($0, in: window) }
        guard !changed.isFromStart, let from = TimeText.parse(changed.from, now: 0) else { return text }
        let step = TrendStep.fitting(window, slots: Self.slots)
        let came = marks.first { max($0.time, from) - min($0.time, from) <= step }
        return text + (came.map { ", when \($0.label) appeared" } ?? "")
    }

    private var change: String? {
        guard let measures = totals.measures, let before = measuresBefore else { return nil }
        return
            "failures \(FigureText.percent(before.failures.rate)) → \(FigureText.percent(measures.failures.rate)) %, "
            + "p95 \(Figure.duration(before.latency.p95)) → \(Figure.duration(measures.latency.p95))"
    }
}
