import MartletReports
import MartletStorage
import MartletTelemetry

/// Who calls whom, as each side counted.
package struct ServiceMap: Sendable {
    /// Edges that are drawn, and edges of the table, at most.
    static let (maxDrawn, maxListed) = (40, 1000)
    /// Kept server spans that are looked at for calls through proxies, and remembered calls.
    private static let maxSpans = 5000

    let visit: Visit
    let facts: PageFacts
    /// The edges with the most requests first, at most ``maxListed``.
    let edges: [CallEdge]
    let edgeCount: Int
    /// The requests that each service served or, if it served none, made.
    let services: [String: RequestMeasures]
    let agents: [AgentRecord]
    /// `nil` if there is something to show.
    let empty: EmptyState?

    /// - Throws: ``ParameterError``, ``TooManyGroups``, or the store's error.
    package init(_ visit: Visit, in storage: some Storage) async throws {
        guard visit.filters.allSatisfy({ PageParameter.scope.contains($0.name) }) else {
            throw ParameterError("the map can be filtered by service and environment alone")
        }
        self.visit = visit
        facts = try await PageFacts(visit, in: storage)
        // The other end of an edge may be of any service.
        var filter = visit.filter
        filter.removeAll(.service)
        let answer = try await storage.statistics(
            StatisticsQuery(window: visit.window, filter: filter, by: [.service, .kind, .host, .error]))
        let calls = try await storage.calls(in: answer.window, filter, limit: Self.maxSpans)
        let all = CallGraph(answer.groups, calls).edges.filter { $0.touches(visit.filter.wanted[.service]) }
        (edges, edgeCount) = (Array(all.prefix(Self.maxListed)), all.count)
        services = Self.figures(of: answer)
        agents = try await storage.agents(seenSince: visit.window.from, limit: AgentsReport.maxAgents).agents
            .filter { filter.matches($0.resource) }
        empty = edges.isEmpty ? try await EmptyState(visit, in: storage) : nil
    }

    private static func figures(of answer: StatisticsAnswer) -> [String: RequestMeasures] {
        var (served, made) = ([String: RequestGroup](), [String: RequestGroup]())
        for group in answer.groups {
            let service = (group.values.first ?? nil) ?? ""
            if group.values[1] == RequestKind.server.rawValue {
                served[service, default: RequestGroup(values: [])].merge(group)
            } else {
                made[service, default: RequestGroup(values: [])].merge(group)
            }
        }
        return made.merging(served) { $1 }.mapValues { $0.measures(seconds: answer.window.seconds) }
    }

    /// The edge with the most requests that are known to be lost.
    var worst: CallEdge? {
        let worst = edges.max { ($0.sent?.lost ?? 0) < ($1.sent?.lost ?? 0) }
        return worst.flatMap { ($0.sent?.lost ?? 0) > 0 ? $0 : nil }
    }
}

extension CallEdge {
    /// Whether one of its ends is one of the services; `nil` are all.
    fileprivate func touches(_ services: Set<String>?) -> Bool {
        services.map { services in [from, to].contains { $0.service.map(services.contains) ?? false } } ?? true
    }
}
