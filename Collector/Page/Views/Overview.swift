import MartletFindings
import MartletReports
import MartletStorage
import MartletTelemetry

/// The services and endpoints of a window. The view shows what happened, whether anything is worse than before, and where the time
/// goes.
package struct Overview: Sendable {
    let pageRequest: PageRequest
    let facts: FrameData
    /// The kind of requests that the address asks for; `nil` for either.
    let wanted: RequestKind?
    /// The kind of requests whose endpoints are listed.
    let kind: RequestKind
    /// The parameters of the table of endpoints, for a command and for the API.
    let parameters: ReportParameters
    private let rows: OverviewQueries.Rows
    /// The services that took the most time.
    let services: [OverviewService]
    let serviceCount: Int
    let totals: Totals
    let incompleteness: Incompleteness
    let rules: RulesNotice
    let hosts: CalledHosts
    /// `nil` if nobody looks for findings.
    let findings: FindingsList?
    /// `nil` if there is something to show.
    let empty: NoResultsView?

    var endpoints: Report { rows.report }

    /// Whether there are too many endpoints to compare them.
    var isTooMuchToCompare: Bool { rows.isTooMuchToCompare }

    /// - Parameters:
    ///   - histories: the pasts of rows in this store; `nil` to read those that are needed.
    ///   - findings: the answer to ``PageRequest/findingsQuestion``; `nil` for a view without findings.
    /// - Throws: ``ParameterError``, ``TooManyGroups``, or the store's error.
    package init(
        _ pageRequest: PageRequest, in storage: some Storage, _ histories: RowHistories? = nil,
        findings answer: FindingsAnswer? = nil
    ) async throws {
        self.pageRequest = pageRequest
        facts = try await FrameData(pageRequest, in: storage)
        wanted = try pageRequest.parameters.choice(.kind)
        let queries = try OverviewQueries(pageRequest, wanted ?? .client)
        let answers = try await storage.statistics(queries.all)
        let (ofReport, others) = (answers.dropLast(queries.others.count), Array(answers.suffix(queries.others.count)))
        let all = try await storage.withoutSlots(ifTooMany: others[0], queries.totals)
        kind = wanted ?? (all.totals[.client] != nil ? .client : .server)
        let agents = try await storage.agents(
            seenSince: pageRequest.window.from, pageRequest.filter, limit: AgentsReport.maxAgents)
        serviceCount = try others[2].get().groupCount
        services = OverviewService.all(of: try await queries.services(others[1], in: storage), agents)
        incompleteness = Incompleteness(pageRequest, all, agents)
        rules = RulesNotice(pageRequest, all.totals.values, agents.agents)
        totals = Totals(of: kind, in: all)
        let hosts = try others[3].get()
        self.hosts = CalledHosts(hosts, callers: try await queries.callers(others[4], of: hosts, in: storage))
        if let answer {
            findings = try await FindingsList(pageRequest, answer, in: storage)
        } else {
            findings = nil
        }
        if kind == queries.kind {
            rows = try await queries.rows(of: Array(ofReport), in: storage, histories)
            parameters = queries.parameters(of: rows.report)
        } else {
            let served = try OverviewQueries(pageRequest, kind)
            rows = try await served.rows(
                of: try await storage.statistics(served.report.queries), in: storage, histories)
            parameters = served.parameters(of: rows.report)
        }
        empty =
            services.isEmpty
            ? try await NoResultsView(pageRequest, comparedWith: pageRequest.comparison, in: storage) : nil
    }
}

extension Storage {
    /// Returns the answer to a query. If there are too many groups for slots, returns it without slots.
    fileprivate func withoutSlots(
        ifTooMany answer: Result<StatisticsAnswer, TooManyGroups>, _ query: StatisticsQuery
    ) async throws -> StatisticsAnswer {
        if case .success(let answer) = answer { return answer }
        var query = query
        query.step = nil
        return try await statistics(query)
    }
}

/// A row of the table of services.
struct OverviewService: Sendable {
    var name: String
    /// The number of processes that ran in the window. `nil` if the collector had seen none by the window's end, or more than
    /// it lists.
    var instances: Int?
    /// The versions of the processes that ran in the window, and when each was first seen if that is within the window.
    var versions: [(name: String, new: UnixNanoseconds?)]
    var served: Side?
    var made: Side?
    /// The time of its latest report, by the collector's clock; `nil` if it has no sender.
    var lastSeen: UnixNanoseconds?

    /// The requests of one kind.
    struct Side: Sendable {
        var measures: RequestMeasures
        /// The p95 over time, in milliseconds.
        var trend: [Double?]
    }

    /// Returns the services, those that took the most time first.
    static func all(of answer: StatisticsAnswer, _ agents: AgentsAnswer) -> [OverviewService] {
        var (services, indexes) = ([OverviewService](), [String: Int]())
        let senders = Dictionary(grouping: agents.agents, by: \.resource.service)
        for (row, group) in answer.groups.enumerated() {
            let name = (group.values.first ?? nil) ?? ""
            let index = indexes[name, default: services.count]
            if index == services.count {
                indexes[name] = index
                services.append(
                    OverviewService(
                        name, senders[name] ?? [], answer.window, isWhole: agents.more == 0))
            }
            let side = Side(
                measures: group.measures(seconds: answer.ratedWindow.seconds),
                trend: (answer.slots?.groups[row] ?? []).map { $0.milliseconds(0.95) })
            if group.values.last == RequestKind.server.rawValue {
                services[index].served = side
            } else {
                services[index].made = side
            }
        }
        return services
    }

    /// - Parameter isWhole: whether these are all agents.
    private init(_ name: String, _ agents: [AgentRecord], _ window: TimeWindow, isWhole: Bool) {
        self.name = name
        let began = agents.filter { $0.began <= window.to }
        instances = isWhole && !began.isEmpty ? Set(began.map(\.resource.instance)).count : nil
        let seen = SeenVersions(began)
        versions = seen.versions(of: name).map { ($0.name, seen.firstSeen(name, $0.name, in: window)) }
        lastSeen = agents.map(\.lastSeen).max()
    }
}

extension PageRequest {
    /// The value of `compare` that turns the comparison off.
    static let noComparison = "off"

    /// The parameter `compare` of the view's report; `nil` if it is compared with nothing.
    var comparison: String? {
        let text = parameters[.compare] ?? ComparisonBase.previous.text
        return text == Self.noComparison ? nil : text
    }

    /// The requests that the overview counts: those that match all filters, and only the later version if versions are compared.
    var countedRequests: PageAddress {
        let requests = selected(.requests)
        return ComparisonBase.versions(in: comparison).map { requests.with(.version, $0.after) } ?? requests
    }
}

extension Overview {
    package var html: HTML {
        let title = "Overview: \(pageRequest.titleOfScope)"
        let frame = PageFrame(pageRequest: pageRequest, facts: facts)
        if let empty {
            return frame.document(title, view: .overview, hasScope: empty.hasScope) {
                if let findings, !findings.isEmpty { findings.html }
                empty.html
                IncompleteNotice(pageRequest: pageRequest, incompleteness: incompleteness).html
                if empty.hasScope {
                    CommandLine(pageRequest, report: pageRequest.report(of: wanted, by: [.service, .kind])).html
                }
            }
        }
        return frame.document(title, view: .overview) {
            findings?.html ?? .none
            leadIn
            FilterChips(above: pageRequest).html
            IncompleteNotice(pageRequest: pageRequest, incompleteness: incompleteness).html
            rules.html
            element("section", Attribute("aria-labelledby", "h-totals")) {
                element("h2", .id("h-totals"), .class("vh")) {
                    kind == .client ? "All outgoing requests" : "All incoming requests"
                }
                TotalsStrip(
                    totals: totals, requests: pageRequest.countedRequests.with(.kind, kind.rawValue),
                    bounds: totals.measures.flatMap { incompleteness.bounds($0) }
                ).html
            }
            ServicesTable(
                pageRequest: pageRequest, services: services, count: serviceCount, incompleteness: incompleteness
            ).html
            HostsTable(pageRequest: pageRequest, called: hosts).html
            EndpointsTable(overview: self).html
        }
    }

    /// The answer in a sentence, and the endpoints in question.
    private var leadIn: HTML {
        let comparison = ComparisonText(endpoints)
        let headlines = ChangeHeadline.all(in: endpoints)
        return element("section", .class("lead-in" + tone), .label("The answer")) {
            element(findings == nil ? "h1" : "h2") {
                (isWorse ? Icon.up : isJudged ? .good : .few).html
                isJudged ? comparison?.answer ?? sentence : sentence
            }
            if !headlines.isEmpty || isTooMuchToCompare {
                element("p") {
                    if isTooMuchToCompare { "There are too many endpoints to compare them all; choose a service. " }
                    changes(headlines)
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

    /// The maximum number of changes that a sentence names, and of endpoints in each.
    private static let maxNamed = 4

    private func changes(_ headlines: [ChangeHeadline]) -> HTML {
        HTML.joined(headlines.prefix(Self.maxNamed).map(sentence))
    }

    /// Returns a sentence about the endpoint that changed the most, with links to the others that changed with it.
    private func sentence(about headline: ChangeHeadline) -> HTML {
        let links = zip(headline.rows, headline.names).prefix(Self.maxNamed).map { row, name in
            link(EndpointsTable.address(of: row, pageRequest, kind)) { name }
        }
        guard let row = headline.rows.first, let verdict = row.verdict, let first = links.first else { return .none }
        let more = headline.rows.count - links.count
        return HTML.joined(
            [first, HTML(": \(VerdictText.word(verdict)), \(VerdictText.changes(verdict))\(since(row))")]
                + links.dropFirst().enumerated().flatMap { [HTML($0 == 0 ? "; also " : ", "), $1] }
                + [HTML(more > 0 ? " and \(FigureText.grouped(UInt64(more))) more. " : ". ")])
    }

    /// Returns a comma and the time of a row's change; empty if the time is unknown.
    private func since(_ row: ReportRow) -> String {
        row.changed.map { ", " + $0.text { ClockText.moment($0, in: pageRequest.window) } } ?? ""
    }

    /// The answer if nothing is compared.
    private var sentence: String {
        let measures = endpoints.totals.measures
        guard measures.count > 0 else { return "No requests" }
        let failed = measures.failures.count == 0 ? "None" : FigureText.grouped(measures.failures.count)
        return "\(failed) of \(FigureText.counted(measures.count, "request")) failed"
    }
}

extension PageRequest {
    /// The window and the environment, as words of a title.
    var titleOfScope: String {
        let window =
            parameters[.until] == nil
            ? Self.title(since: parameters[.since] ?? PageParameter.defaultSince)
            : "\(TimeText.format(self.window.from)) to \(TimeText.format(self.window.to))"
        return titleOfScope(in: window)
    }

    /// The environment and the services, next to the given window, as words of a title.
    func titleOfScope(in window: String) -> String {
        ([window] + parameters.all(.environment) + parameters.all(.service)).joined(separator: ", ")
    }

    /// The start of the window, a moment or a duration ago, as words of a title.
    static func title(since: String) -> String { (TimeText.nanoseconds(since) == nil ? "since " : "last ") + since }
}

/// The queries for the overview. They are asked together, because all are about the same requests.
struct OverviewQueries {
    /// The number of rows in the table of endpoints, unless the address sets more.
    static let maxEndpoints = 50
    /// The number of services, unless the address sets more.
    static let maxServices = 100
    /// The number of called hosts, unless the address sets more.
    private static let maxHosts = 20
    /// The maximum number of hosts and callers, each pair once.
    private static let maxCallers = 10_000
    /// The maximum number of slots in each line.
    private static let slots: UInt64 = 20

    /// The kind of requests whose endpoints are listed.
    let kind: RequestKind
    /// The parameters of the table of endpoints.
    private let parameters: ReportParameters
    /// All requests, in the same window as the endpoints.
    let totals: StatisticsQuery
    /// The services that took the most time.
    private let services: StatisticsQuery
    private let maxServices: Int
    private let allServices: StatisticsQuery
    /// The called hosts that took the most time.
    private let hosts: StatisticsQuery
    private let callers: StatisticsQuery
    let report: ReportQuery
    private let query: StatisticsQuery

    init(_ pageRequest: PageRequest, _ kind: RequestKind) throws {
        self.kind = kind
        let wanted = pageRequest.parameters[.top].flatMap(Int.init) ?? 0
        totals = try Self.query(pageRequest, nil, [.kind], isInSlots: true)
        var services = try Self.query(pageRequest, nil, [.service, .kind], isInSlots: true)
        maxServices = max(Self.maxServices, wanted)
        services.limit = RequestKind.allCases.count * maxServices
        self.services = services
        allServices = try Self.counts(pageRequest, nil, [.service], limit: 1)
        var hosts = try Self.query(pageRequest, .client, [.host, .system], isInSlots: false)
        hosts.limit = max(Self.maxHosts, wanted)
        self.hosts = hosts
        callers = try Self.counts(pageRequest, .client, [.host, .system, .service], limit: Self.maxCallers)
        parameters = pageRequest.report(of: kind, by: [.service, .method, .host, .endpoint], leavingOut: [])
        var query = try parameters.query(now: pageRequest.now)
        query.by.append(.system)
        query.limit = query.limit ?? Self.maxEndpoints
        query.step = TrendStep.fitting(pageRequest.window, slots: Self.slots)
        self.query = query
        report = ReportQuery(query, comparedWith: try parameters.comparison(of: query))
    }

    /// The queries that are not the report's.
    var others: [StatisticsQuery] { [totals, services, allServices, hosts, callers] }

    /// All queries, the report's first.
    var all: [StatisticsQuery] { report.queries + others }

    /// Returns the services by their kinds of requests. Of a large fleet, these are the services that took the most time.
    ///
    /// - Parameter answer: the answer to the query of services.
    func services(_ answer: ReportQuery.Answer, in storage: some Storage) async throws -> StatisticsAnswer {
        let first = try await storage.withoutSlots(ifTooMany: answer, services)
        guard first.groupCount > first.groups.count else { return first }
        // The answer may have only one of a service's two kinds.
        var (whole, names) = (services, Set<String>())
        for group in first.groups where names.count < maxServices { names.insert(group.values[0] ?? "") }
        whole.limit = nil
        whole.filter.removeAll(.service)
        for name in names { whole.filter.select(.service, name) }
        return try await storage.withoutSlots(ifTooMany: try await storage.statistics([whole])[0], whole)
    }

    /// Returns the hosts by the services that call them.
    ///
    /// - Parameters:
    ///   - answer: the answer to the query of callers.
    ///   - hosts: the called hosts that are shown.
    func callers(
        _ answer: ReportQuery.Answer, of hosts: StatisticsAnswer, in storage: some Storage
    ) async throws -> StatisticsAnswer {
        let first = try answer.get()
        guard first.groupCount > first.groups.count else { return first }
        var ofHosts = callers
        ofHosts.filter.removeAll(.host)
        for group in hosts.groups { ofHosts.filter.select(.host, group.values[0] ?? "") }
        return try await storage.statistics(ofHosts)
    }

    struct Rows: Sendable {
        var report: Report
        /// Whether there are too many endpoints to compare them.
        var isTooMuchToCompare: Bool
    }

    /// Returns the table of endpoints, as far as the store can provide it.
    ///
    /// - Parameter answers: the answers to the queries of ``report``.
    func rows(
        of answers: [ReportQuery.Answer], in storage: some Storage, _ histories: RowHistories?
    ) async throws -> Rows {
        do {
            return Rows(report: try await report.report(of: answers, in: storage, histories), isTooMuchToCompare: false)
        } catch is TooManyGroups {
            var plain = query
            plain.step = nil
            return Rows(report: try await storage.report(plain), isTooMuchToCompare: report.queries.count > 1)
        }
    }

    /// Returns the parameters that give a command and the API the same rows and verdicts. Without a number of rows, a report
    /// has all rows. So if rows may have been left out in either window, the parameters include the
    /// default number. Without a row of a system, they do not name this dimension.
    func parameters(of report: Report) -> ReportParameters {
        var parameters = parameters
        let before = report.rows.count { $0.before != nil } + (report.compare?.goneCount ?? 0)
        if parameters[.top] == nil, report.rowCount > Self.maxEndpoints || before >= Self.maxEndpoints {
            parameters.add(.top, String(Self.maxEndpoints))
        }
        if report.rows.contains(where: { !$0.text(of: .system).isEmpty }) {
            parameters.add(.by, Dimension.system.rawValue)
        }
        return parameters
    }

    /// Returns a query in the window of the report, for one kind or for both.
    private static func query(
        _ pageRequest: PageRequest, _ kind: RequestKind?, _ dimensions: [Dimension], isInSlots: Bool
    ) throws -> StatisticsQuery {
        var filter = pageRequest.filter
        filter.removeAll(.kind)
        if let kind { filter.select(.kind, kind.rawValue) }
        var query = StatisticsQuery(
            window: pageRequest.window, filter: filter, by: dimensions,
            step: isInSlots ? TrendStep.fitting(pageRequest.window, slots: slots) : nil)
        query.slotScale = TrendStep.scale
        return try pageRequest.comparison.map { try ComparisonBase($0).query(after: query) } ?? query
    }

    /// Returns a query of groups without figures.
    private static func counts(
        _ pageRequest: PageRequest, _ kind: RequestKind?, _ dimensions: [Dimension], limit: Int
    ) throws -> StatisticsQuery {
        var query = try query(pageRequest, kind, dimensions, isInSlots: false)
        (query.limit, query.hasFigures) = (limit, false)
        return query
    }
}

extension PageRequest {
    /// Returns the parameters of a report about the overview's requests, in the window that its comparison needs.
    ///
    /// - Parameters:
    ///   - kind: the kind of requests; `nil` for both.
    ///   - names: the parameters that are not copied to the report.
    func report(
        of kind: RequestKind?, by dimensions: [Dimension],
        leavingOut names: Set<PageParameter> = [.sort, .ascending, .top]
    ) -> ReportParameters {
        var parameters = parameters(for: ReportParameter.self, leavingOut: names.union([.kind, .compare]))
        parameters.add(.kind, kind?.rawValue)
        parameters.add(.compare, comparison)
        for dimension in dimensions { parameters.add(.by, dimension.rawValue) }
        return parameters
    }
}
