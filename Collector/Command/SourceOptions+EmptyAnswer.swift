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
            names.append(try await self.names(of: dimension, value, beside: wanted))
        }
        return names
    }

    /// Returns the version that the rows of a report are compared with if nobody has it.
    ///
    /// - Parameters:
    ///   - compare: the option of that name.
    ///   - filters: the values that were given for dimensions.
    func unknownVersion(
        in report: Report, comparedWith compare: String?, _ filters: [(dimension: Dimension, value: String)]
    ) async throws -> EmptyAnswer.Names? {
        guard report.isComparedWithNothing, let before = ComparisonBase.versions(in: compare)?.before else {
            return nil
        }
        let names = try await names(of: .version, before, beside: filters)
        return names.isKnown ? nil : names
    }

    /// Returns the known names of a dimension. In place of a name that nobody has, they are those of the senders that the other filters
    /// select, if these have any.
    private func names(
        of dimension: Dimension, _ wanted: String, beside filters: [(dimension: Dimension, value: String)]
    ) async throws -> EmptyAnswer.Names {
        let all = EmptyAnswer.Names(dimension, wanted: wanted, values: try await values(of: dimension))
        let senders = filters.filter { $0.dimension.isOfSender && $0.dimension != dimension }
        guard !all.isKnown, !senders.isEmpty else { return all }
        let own = try await values(of: dimension, from: senders)
        return own.isEmpty ? all : EmptyAnswer.Names(dimension, wanted: wanted, values: own)
    }

    private func values(
        of dimension: Dimension, from senders: [(dimension: Dimension, value: String)] = []
    ) async throws -> [String] {
        var parameters = ValuesParameters()
        parameters.add(.since, Self.since)
        for (sender, value) in senders {
            if let name = ValuesParameter(rawValue: sender.rawValue) { parameters.add(name, value) }
        }
        guard let store = try await openStore() else {
            let report: ValuesReport = try await client().get("api/v1/values/\(dimension.rawValue)", parameters.query)
            return report.values
        }
        return try await store.values(try parameters.query(of: dimension, now: SQLiteStorage.systemClock())).values
    }
}
