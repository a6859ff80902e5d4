import MartletReports
import MartletSQLiteStorage

extension SourceOptions {
    /// Returns the report that a collector or a store gives.
    func report(_ parameters: ReportParameters) async throws -> Report {
        let query = try parameters.query(now: SQLiteStorage.systemClock())
        let base = try parameters.comparison(of: query)
        if let store = try openStore() { return try await store.report(query, comparedWith: base) }
        return try await client().get("api/v1/report", parameters.query)
    }
}
