import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func spans(ofTrace trace: TraceID) async throws -> [StoredSpan] {
        try await pool.read { db in
            var resources: [Int64: TelemetryResource] = [:]
            let rows = try Row.fetchAll(
                db, sql: "SELECT * FROM detail WHERE trace_id = ? ORDER BY start_time, id", arguments: [trace.blob])
            return try rows.compactMap { row in
                let id: Int64 = row["resource_id"]
                let resource = try resources[id] ?? ResourceRows.find(id, in: db)
                resources[id] = resource
                guard let resource, let span = try DetailRows.decode(row) else { return nil }
                return StoredSpan(resource: resource, span: span)
            }
        }
    }
}
