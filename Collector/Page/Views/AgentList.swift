import MartletReports
import MartletStorage
import MartletTelemetry

/// The senders of a window, and of at least a day: whether the figures can be trusted.
package struct AgentList: Sendable {
    private static let day: UInt64 = 86_400_000_000_000
    /// The time after which a sender counts as silent: agents send every ten seconds.
    static let silence: UInt64 = 60_000_000_000

    let visit: Visit
    let facts: PageFacts
    /// Senders that the filter selects.
    let report: AgentsReport
    /// The flag of the list's time; `nil` for the command's own default.
    let since: String?
    /// Senders that were not heard of in the last minute.
    let silent: Int
    /// The sum of all ledgers; `nil` if no sender keeps one.
    let total: AgentsReport.Account?

    /// - Throws: ``ParameterError``, or the store's error.
    package init(_ visit: Visit, in storage: some Storage) async throws {
        try visit.refuseFilters(besides: [.service, .environment, .version, .instance], of: "the list of agents")
        self.visit = visit
        facts = try await PageFacts(visit, in: storage)
        let yesterday = visit.now - min(visit.now, Self.day)
        since = visit.window.from < yesterday ? visit.parameters[.since] : nil
        let start = min(visit.window.from, yesterday)
        let answer = try await storage.agents(seenSince: start, visit.filter, limit: AgentsReport.maxAgents)
        silent = answer.agents.count { visit.now > $0.lastSeen && visit.now - $0.lastSeen > Self.silence }
        report = AgentsReport(
            answer, since: start, busyWaits: try await storage.recentBusyWaits(now: visit.now, visit.filter))
        total = AgentsReport.Account.sum(of: report.agents.compactMap(\.ledger))
    }

    /// The senders with facts that need a look.
    var remarkable: [AgentsReport.Agent] { report.agents.filter { !$0.notes.isEmpty } }

    var sentence: String {
        let count = report.agents.count
        switch (count, silent) {
        case (0, _): return "No agent was heard of"
        case (1, 0): return "The agent was heard of in the last minute"
        case (_, 0): return "All \(count) agents were heard of in the last minute"
        case (1, _): return "The agent has been silent for more than a minute"
        case (silent, _): return "All \(count) agents have been silent for more than a minute"
        default:
            return "\(silent) of \(count) agents \(silent == 1 ? "has" : "have") been silent for more than a minute"
        }
    }
}
