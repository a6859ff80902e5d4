import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry

/// The facts that explain an answer without rows.
extension SourceOptions {
    /// The window in which senders and names are looked for: as long as points are kept by default.
    private static let since = "400d"

    /// Returns the latest data that the collector or the store has from senders.
    func history(of senders: AgentsParameters) async throws -> EmptyAnswer.History {
        guard var latest = try await latestSender(AgentsParameters()) else { return .nobodyEverSent }
        if !senders.values.isEmpty {
            guard let selected = try await latestSender(senders) else { return .unknown }
            latest = selected
        }
        guard let time = TimeText.parse(latest.lastSeen, now: 0) else { return .unknown }
        return .latest(time, sender: "\(latest.service) (\(latest.instance))")
    }

    private func latestSender(_ senders: AgentsParameters) async throws -> AgentsReport.Agent? {
        var parameters = senders
        parameters.add(.since, Self.since)
        return try await agents(parameters).agents.first
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
