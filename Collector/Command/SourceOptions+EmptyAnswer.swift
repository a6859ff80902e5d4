import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry

/// The facts that explain a report without rows.
extension SourceOptions {
    /// The window in which senders and names are looked for: as long as points are kept by default.
    private static let since = "400d"

    /// Returns the latest data that the collector or the store has.
    func history() async throws -> EmptyAnswer.History {
        let latest = try await latestSender()
        guard let latest, let time = TimeText.parse(latest.lastSeen, now: 0) else { return .nobodyEverSent }
        return .latest(time, sender: "\(latest.service) (\(latest.instance))")
    }

    private func latestSender() async throws -> AgentsReport.Agent? {
        guard let store = try await openStore() else {
            let report: AgentsReport = try await client().get("api/v1/agents", [("since", Self.since)])
            return report.agents.first
        }
        return AgentsReport(try await store.agents(seenSince: 0, limit: 1), since: 0).agents.first
    }

    /// Returns the known names of each dimension that a filter gave a value for.
    func names(wanted: [(dimension: Dimension, value: String)]) async throws -> [EmptyAnswer.Names] {
        var names: [EmptyAnswer.Names] = []
        for (dimension, value) in wanted where !value.isEmpty {
            names.append(EmptyAnswer.Names(dimension, wanted: value, values: try await values(of: dimension)))
        }
        return names
    }

    private func values(of dimension: Dimension) async throws -> [String] {
        var parameters = ValuesParameters()
        parameters.add(.since, Self.since)
        guard let store = try await openStore() else {
            let report: ValuesReport = try await client().get("api/v1/values/\(dimension.rawValue)", parameters.query)
            return report.values
        }
        return try await store.values(try parameters.query(of: dimension, now: SQLiteStorage.systemClock())).values
    }
}
