import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    /// Reads the rows of all senders, and the ledgers of those in the answer. 400,000 rows take 0.1 s; an index would have to
    /// be written with every batch.
    package func agents(
        seenSince time: UnixNanoseconds, _ filter: RequestFilter, limit: Int
    ) async throws -> AgentsAnswer {
        let selected: SQL = "FROM resource WHERE last_seen >= \(Int64(clamping: time)) AND \(filter.senderCondition)"
        return try await pool.read { db in
            let rows = try SQLRequest<Row>(
                literal: "SELECT * \(selected) ORDER BY last_seen DESC, id DESC LIMIT \(limit)"
            ).fetchAll(db)
            let count =
                try rows.count < limit ? nil : SQLRequest<Int>(literal: "SELECT count(*) \(selected)").fetchOne(db)
            return AgentsAnswer(
                agents: try rows.map { try Self.agent(of: $0, in: db) }, more: (count ?? rows.count) - rows.count)
        }
    }

    private static func agent(of row: Row, in db: Database) throws -> AgentRecord {
        let (first, last, end): (Int64, Int64, Int64) = (row["first_seen"], row["last_seen"], row["last_end"])
        let stream = try BatchStream.find(instance: row["instance"], .metrics, in: db)
        return AgentRecord(
            resource: ResourceRows.decode(row), firstSeen: UInt64(clamping: first), lastSeen: UInt64(clamping: last),
            latestEnd: UInt64(clamping: end), ledger: try LedgerRows.latest(of: row["id"], in: db),
            gaps: stream?.sequences.gaps,
            statistics: try StatisticsCoverRows.sources(of: row["id"], in: db),
            process: try latestProcess(of: row["id"], in: db))
    }
}
