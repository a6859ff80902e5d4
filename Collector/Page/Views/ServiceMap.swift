import MartletReports
import MartletStorage

/// The calls between services, as each side counted.
package struct ServiceMap: Sendable {
    /// Edges that are drawn, and edges of the table, at most.
    static let (maxDrawn, maxListed) = (40, 1000)

    let visit: Visit
    let facts: PageFacts
    let calls: ServiceCalls
    /// The requests that each service served or, if it served none, made.
    let services: [String: RequestMeasures]
    let agents: [AgentRecord]
    /// `nil` if there is something to show.
    let empty: EmptyState?

    /// - Throws: ``ParameterError``, ``TooManyGroups``, or the store's error.
    package init(_ visit: Visit, in storage: some Storage) async throws {
        try visit.refuseFilters(besides: [.service, .environment], of: "the map")
        self.visit = visit
        var facts = try await PageFacts(visit, in: storage)
        calls = try await ServiceCalls(
            MapQuery(window: visit.window, filter: visit.filter, limit: Self.maxListed), in: storage)
        services = calls.services()
        // Both ends count.
        facts.completeness = calls.report.completeness
        self.facts = facts
        var filter = visit.filter
        filter.removeAll(.service)
        agents = try await storage.agents(seenSince: visit.window.from, limit: AgentsReport.maxAgents).agents
            .filter { filter.matches($0.resource) }
        empty = calls.report.edges.isEmpty ? try await EmptyState(visit, in: storage) : nil
    }

    var report: MapReport { calls.report }
}
