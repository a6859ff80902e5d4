import ArgumentParser
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry

/// The source of an answer: a collector, or a store.
struct SourceOptions: ParsableArguments {
    @OptionGroup var options: ClientOptions

    @Option(help: "Read the store, sqlite:PATH or clickhouse:http://HOST:8123/DATABASE, instead of asking a collector.")
    var store: String?

    /// The flags that were given, for a command to copy; never the token.
    var flags: [CommandFlag] { options.flags + (store.map { [CommandFlag("store", $0)] } ?? []) }

    /// Returns `nil` if a collector is to be asked.
    func openStore() async throws -> (any Storage)? {
        guard let store else { return nil }
        return try await StoreLocation(store).openForReading()
    }

    func client() throws -> CollectorClient { try options.client() }
}

/// Answers of the collector or of the store's file.
extension SourceOptions {
    func report(_ parameters: ReportParameters) async throws -> Report {
        let query = try parameters.query(now: SQLiteStorage.systemClock())
        let base = try parameters.comparison(of: query)
        guard let store = try await openStore() else {
            return try await client().get("api/v1/report", parameters.query)
        }
        return try await store.report(query, comparedWith: base)
    }

    func requests(_ parameters: RequestsParameters) async throws -> RequestsReport {
        let query = try parameters.query(now: SQLiteStorage.systemClock())
        guard let store = try await openStore() else {
            return try await client().get("api/v1/requests", parameters.query)
        }
        return RequestsReport(try await store.requests(query), for: query)
    }

    func map(_ parameters: MapParameters) async throws -> MapReport {
        let query = try parameters.query(now: SQLiteStorage.systemClock())
        guard let store = try await openStore() else {
            return try await client().get("api/v1/map", parameters.query)
        }
        return try await ServiceCalls(query, in: store).report
    }

    func agents(_ parameters: AgentsParameters) async throws -> AgentsReport {
        let now = SQLiteStorage.systemClock()
        let since = try parameters.since(now: now)
        guard let store = try await openStore() else {
            return try await client().get("api/v1/agents", parameters.query)
        }
        return try await store.agentsReport(since: since, parameters.filter(), now: now)
    }
}

/// The facts that explain an answer without rows.
extension SourceOptions {
    /// The window in which senders and names are looked for: as long as points are kept by default.
    private static let since = "400d"

    /// Adds the facts to a context.
    ///
    /// - Parameters:
    ///   - report: the answer without rows.
    ///   - filters: the values that were given for dimensions.
    ///   - wanted: those that a person may have misspelt.
    func explain(
        _ report: some WindowReport, _ context: inout ReportContext, _ filters: [EmptyAnswer.Names.Wanted],
        names wanted: [EmptyAnswer.Names.Wanted]
    ) async throws {
        var senders = AgentsParameters()
        try senders.add(filters.filter(\.dimension.isOfSender))
        context.history = try await history(of: senders)
        context.names = try await names(wanted: wanted)
        guard let start = TimeText.parse(report.from, now: 0) else { return }
        context.latestRequest = try await LatestRequest.end(before: start, filters, report: self.report)
    }

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
    func names(wanted: [EmptyAnswer.Names.Wanted]) async throws -> [EmptyAnswer.Names] {
        var names: [EmptyAnswer.Names] = []
        for one in wanted where !one.value.isEmpty {
            if let found = try await self.names(of: one, beside: wanted) { names.append(found) }
        }
        return names
    }

    /// Returns the names beside the rows of a report that nobody has: each of several values of a filter, and the version that the rows
    /// are compared with.
    ///
    /// - Parameters:
    ///   - compare: the option of that name.
    ///   - filters: the values that were given for dimensions.
    func unknownNames(
        beside report: Report, comparedWith compare: String?, _ filters: [EmptyAnswer.Names.Wanted]
    ) async throws -> [EmptyAnswer.Names] {
        var wanted = filters.filter { one in filters.count { $0.dimension == one.dimension } > 1 && !one.value.isEmpty }
        var all = filters
        if report.isComparedWithNothing, let versions = ComparisonBase.versions(in: compare) {
            wanted.append((.version, versions.before))
            all += [(.version, versions.after), (.version, versions.before)]
        }
        var unknown: [EmptyAnswer.Names] = []
        for one in wanted {
            if let names = try await names(of: one, beside: all), !names.isKnown { unknown.append(names) }
        }
        return unknown
    }

    private func names(
        of wanted: EmptyAnswer.Names.Wanted, beside filters: [EmptyAnswer.Names.Wanted]
    ) async throws -> EmptyAnswer.Names? {
        try await EmptyAnswer.Names.find(wanted, beside: filters) { try await values(of: wanted.dimension, from: $0) }
    }

    /// Returns `nil` if there are more values than the collector lists.
    private func values(of dimension: Dimension, from senders: [EmptyAnswer.Names.Wanted]) async throws -> [String]? {
        var parameters = ValuesParameters()
        parameters.add(.since, Self.since)
        parameters.add(senders)
        let report: ValuesReport
        if let store = try await openStore() {
            let query = try parameters.query(of: dimension, now: SQLiteStorage.systemClock())
            report = ValuesReport(try await store.values(query), of: dimension)
        } else {
            report = try await client().get("api/v1/values/\(dimension.rawValue)", parameters.query)
        }
        return report.isThereMore ? nil : report.values
    }
}
