import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func agents() async throws -> [AgentRecord] {
        try await pool.read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT * FROM resource ORDER BY last_seen DESC, id DESC")
            return try rows.map { row in
                let (first, last): (Int64, Int64) = (row["first_seen"], row["last_seen"])
                let stream = try BatchStream.find(instance: row["instance"], .metrics, in: db)
                return AgentRecord(
                    resource: ResourceRows.decode(row), firstSeen: UInt64(clamping: first),
                    lastSeen: UInt64(clamping: last), ledger: try LedgerRows.latest(of: row["id"], in: db),
                    arrivals: stream.map { BatchArrivals(missing: $0.missing, overlapping: $0.overlapping) },
                    statistics: try StatisticsCover.sources(of: row["id"], in: db))
            }
        }
    }
}
