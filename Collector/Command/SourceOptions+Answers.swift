import MartletReports
import MartletSQLiteStorage

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
