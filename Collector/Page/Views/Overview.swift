import MartletReports
import MartletStorage
import MartletTelemetry

/// The services and endpoints of a window: whether anything is worse than before, and where the time goes.
package struct Overview: Sendable {
    let visit: Visit
    let facts: PageFacts
    /// The side that the address asks for; `nil` for either.
    let wanted: RequestKind?
    /// The side whose endpoints are listed.
    let kind: RequestKind
    /// The parameters of the table of endpoints, for a command and for the API.
    let parameters: ReportParameters
    private let rows: OverviewQuestions.Rows
    let services: [OverviewService]
    let totals: Totals
    let incompleteness: Incompleteness
    let rules: RulesNotice
    let hosts: CalledHosts
    /// `nil` if there is something to show.
    let empty: EmptyState?

    var endpoints: Report { rows.report }

    /// Whether there are too many endpoints to compare them.
    var isTooMuchToCompare: Bool { rows.isTooMuchToCompare }

    /// - Throws: ``ParameterError``, ``TooManyGroups``, or the store's error.
    package init(_ visit: Visit, in storage: some Storage) async throws {
        self.visit = visit
        facts = try await PageFacts(visit, in: storage)
        wanted = try visit.parameters.choice(.kind)
        let questions = try OverviewQuestions(visit, wanted ?? .client)
        let answers = try await storage.statistics(questions.all)
        let ofReport = answers.dropLast(2)
        let senders = try await storage.withoutSlots(ifTooMany: answers[ofReport.endIndex], questions.senders)
        kind = wanted ?? (senders.totals[.client] != nil ? .client : .server)
        let agents = try await storage.agents(
            seenSince: visit.window.from, visit.filter, limit: AgentsReport.maxAgents)
        services = OverviewService.all(of: senders, agents)
        incompleteness = Incompleteness(visit, senders, agents)
        rules = RulesNotice(visit, senders.totals.values, agents.agents)
        totals = Totals(of: kind, in: senders)
        hosts = CalledHosts(try answers[ofReport.endIndex + 1].get(), wanted: visit.parameters[.top].flatMap(Int.init))
        if kind == questions.kind {
            rows = try await questions.rows(of: Array(ofReport), in: storage)
            parameters = questions.parameters(of: rows.report)
        } else {
            let served = try OverviewQuestions(visit, kind)
            rows = try await served.rows(of: try await storage.statistics(served.report.queries), in: storage)
            parameters = served.parameters(of: rows.report)
        }
        empty = services.isEmpty ? try await EmptyState(visit, in: storage) : nil
    }
}

extension Storage {
    /// Returns an answer, or one without slots if there are too many groups for them.
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
    /// The processes that lived in the window. `nil` if the collector heard of none by its end, or of more than it lists.
    var instances: Int?
    /// The versions of the processes that lived in the window, and the time at which each was first seen if that lies in it.
    var versions: [(name: String, new: UnixNanoseconds?)]
    var served: Side?
    var made: Side?
    /// By the collector's clock; `nil` if no sender of the service was heard of.
    var lastSeen: UnixNanoseconds?

    /// The requests of one kind.
    struct Side: Sendable {
        var measures: RequestMeasures
        /// The p95 over time, in milliseconds.
        var trend: [Double?]
    }

    /// Returns the services with the most time spent first.
    static func all(of answer: StatisticsAnswer, _ agents: AgentsAnswer) -> [OverviewService] {
        var (services, indexes) = ([OverviewService](), [String: Int]())
        for (row, group) in answer.groups.enumerated() {
            let name = (group.values.first ?? nil) ?? ""
            let index = indexes[name, default: services.count]
            if index == services.count {
                indexes[name] = index
                services.append(
                    OverviewService(
                        name, agents.agents.filter { $0.resource.service == name }, answer.window,
                        isWhole: agents.more == 0))
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

    /// - Parameter isWhole: whether the agents are all that there are.
    private init(_ name: String, _ agents: [AgentRecord], _ window: TimeWindow, isWhole: Bool) {
        self.name = name
        let began = agents.filter { $0.began <= window.to }
        instances = isWhole && !began.isEmpty ? Set(began.map(\.resource.instance)).count : nil
        let seen = SeenVersions(began)
        versions = seen.versions(of: name).map { ($0.name, seen.firstSeen(name, $0.name, in: window)) }
        lastSeen = agents.map(\.lastSeen).max()
    }
}

extension Visit {
    /// The value of `compare` that compares with nothing.
    static let noComparison = "off"

    /// The other side that the view is compared with, as a report's parameter has it; `nil` for none.
    var comparison: String? {
        let text = parameters[.compare] ?? ComparisonBase.previous.text
        return text == Self.noComparison ? nil : text
    }

    /// The requests that the overview counts: those of all filters, and of the later version if versions are compared.
    var countedRequests: PageAddress {
        let requests = selected(.requests)
        return ComparisonBase.versions(in: comparison).map { requests.with(.version, $0.after) } ?? requests
    }
}
