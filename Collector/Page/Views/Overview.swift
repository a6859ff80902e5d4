import MartletReports
import MartletStorage
import MartletTelemetry

/// The services and endpoints of a window: whether anything is worse than before, and where the time goes.
package struct Overview: Sendable {
    /// Rows of the table of endpoints, unless the address asks for more.
    static let maxEndpoints = 100
    /// Slots of the line of a row, and of the totals.
    private static let (rowSlots, totalSlots) = (20 as UInt64, 30 as UInt64)

    let visit: Visit
    let facts: PageFacts
    /// The side whose endpoints are listed.
    let kind: RequestKind
    /// The parameters of the table of endpoints, for a command and for the API.
    let parameters: ReportParameters
    let endpoints: Report
    /// The p95 of each endpoint over time, in milliseconds, in the order of the rows.
    let endpointTrends: [[Double?]]
    let services: [OverviewService]
    let totals: OverviewTotals
    let incompleteness: Incompleteness
    let hosts: CalledHosts
    /// `nil` if there is something to show.
    let empty: EmptyState?

    /// - Throws: ``ParameterError``, ``TooManyGroups``, or the store's error.
    package init(_ visit: Visit, in storage: some Storage) async throws {
        self.visit = visit
        facts = try await PageFacts(visit, in: storage)
        let senders = try await storage.statistics(Self.senders(visit))
        kind = try visit.parameters.choice(.kind) ?? (senders.totals[.client] != nil ? .client : .server)
        let agents = try await storage.agents(seenSince: visit.window.from, limit: AgentsReport.maxAgents)
        services = OverviewService.all(of: senders, agents)
        incompleteness = try await Incompleteness(visit, senders, agents, in: storage)
        totals = OverviewTotals(of: kind, senders)
        parameters = Self.endpoints(visit, kind)
        var query = try parameters.query(now: visit.now)
        query.limit = query.limit ?? Self.maxEndpoints
        query.step = TrendStep.fitting(visit.window, slots: Self.rowSlots)
        let answer = try await storage.statistics(query)
        endpoints = Report(answer, for: query)
        hosts = try await CalledHosts(visit, in: storage)
        empty = services.isEmpty ? try await EmptyState(visit, in: storage) : nil
        endpointTrends = (answer.slots?.groups ?? []).map { $0.map { $0.milliseconds(0.95) } }
    }

    private static func senders(_ visit: Visit) -> StatisticsQuery {
        var filter = visit.filter
        filter.removeAll(.kind)
        return StatisticsQuery(
            window: visit.window, filter: filter, by: [.service, .kind],
            step: TrendStep.fitting(visit.window, slots: totalSlots))
    }

    private static func endpoints(_ visit: Visit, _ kind: RequestKind) -> ReportParameters {
        var parameters = visit.parameters(for: ReportParameter.self, leavingOut: [.kind])
        parameters.add(.kind, kind.rawValue)
        for dimension in [.service, .method, .host, .endpoint] as [Dimension] {
            parameters.add(.by, dimension.rawValue)
        }
        return parameters
    }
}

/// A row of the table of services.
struct OverviewService: Sendable {
    var name: String
    var instances: Int
    /// The versions that sent in the window, and the time at which each was first seen if that lies in it.
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
                    OverviewService(name, agents.agents.filter { $0.resource.service == name }, answer.window))
            }
            let side = Side(
                measures: group.measures(seconds: answer.window.seconds),
                trend: (answer.slots?.groups[row] ?? []).map { $0.milliseconds(0.95) })
            if group.values.last == RequestKind.server.rawValue {
                services[index].served = side
            } else {
                services[index].made = side
            }
        }
        return services
    }

    private init(_ name: String, _ agents: [AgentRecord], _ window: TimeWindow) {
        self.name = name
        instances = Set(agents.map(\.resource.instance)).count
        let first = Dictionary(agents.map { ($0.resource.version ?? "", $0.firstSeen) }, uniquingKeysWith: min)
        let isAnyOld = first.values.contains { $0 <= window.from }
        versions = first.filter { !$0.key.isEmpty }.sorted { $0.value < $1.value }.map { version, time in
            (version, isAnyOld && time > window.from ? time : nil)
        }
        lastSeen = agents.map(\.lastSeen).max()
    }
}

/// The figures above the tables.
struct OverviewTotals: Sendable {
    /// `nil` if there are no requests.
    var measures: RequestMeasures?
    /// The figures of each slot; `nil` for one without requests.
    var slots: [RequestMeasures?] = []
    /// The beginning of each slot.
    var starts: [UnixNanoseconds] = []

    /// - Parameter answer: groups by service and kind.
    init(of kind: RequestKind, _ answer: StatisticsAnswer) {
        measures = answer.totals[kind]?.measures(seconds: answer.window.seconds)
        guard let slots = answer.slots else { return }
        let rows = answer.groups.indices.filter { answer.groups[$0].values.last == kind.rawValue }
        for slot in 0..<slots.grid.count {
            let window = slots.grid.window(ofSlot: slot)
            let sum = rows.reduce(into: RequestGroup(values: [])) { $0.merge(slots.groups[$1][slot]) }
            self.slots.append(sum.isEmpty ? nil : sum.measures(seconds: window.seconds))
            starts.append(window.from)
        }
    }
}

extension RequestGroup {
    /// Returns a quantile of all durations, in milliseconds; `nil` if there are no requests.
    func milliseconds(_ quantile: Double) -> Double? {
        isEmpty ? nil : statistics.duration.quantiles([quantile]).first.flatMap { $0 }.map { $0 * 1000 }
    }
}
