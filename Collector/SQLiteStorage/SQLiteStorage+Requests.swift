import GRDB
import MartletStorage
import MartletTelemetry

/// The kept spans, as readers ask for them.
extension SQLiteStorage {
    package func requests(_ query: RequestsQuery) async throws -> RequestsAnswer {
        try await health.watching {
            try await pool.read { db in
                let count = SQLRequest<Int>(literal: "SELECT count(*) FROM detail WHERE \(query.condition)")
                let page = try SQLRequest<Row>(literal: try query.page(in: db)).fetchAll(db)
                return RequestsAnswer(
                    requests: try StoredSpans.decode(page.prefix(query.limit), in: db),
                    count: try count.fetchOne(db) ?? 0, isThereMore: page.count > query.limit)
            }
        }
    }

    package func cells(_ query: RequestCellsQuery) async throws -> [[Int]] {
        try await health.watching {
            try await pool.read { db in
                var cells = query.times.map { _ in [Int](repeating: 0, count: query.durations.count + 1) }
                for row in try SQLRequest<Row>(literal: query.statement).fetchAll(db) {
                    let (time, duration): (Int, Int) = (row["time"], row["range"])
                    if cells.indices.contains(time) { cells[time][duration] = row["count"] }
                }
                return cells
            }
        }
    }

    package func request(_ id: String) async throws -> StoredSpan? {
        guard let row = DetailID(id)?.row else { return nil }
        return try await health.watching {
            try await pool.read { db in
                let rows = try Row.fetchAll(db, sql: "SELECT * FROM detail WHERE id = ?", arguments: [row])
                return try StoredSpans.decode(rows, in: db).first
            }
        }
    }

    package func spans(ofTrace trace: TraceID, limit: Int) async throws -> TraceAnswer {
        try await health.watching {
            try await pool.read { db in
                let failed: SQL =
                    "(is_error OR error != '') AND error != \(RequestOutcome.cancelledError)"
                let rows = try SQLRequest<Row>(
                    literal: """
                        SELECT * FROM detail WHERE id IN (
                            SELECT id FROM detail WHERE trace_id = \(trace.blob)
                            ORDER BY \(failed) DESC, start_time, id LIMIT \(limit))
                        ORDER BY start_time, id
                        """
                ).fetchAll(db)
                let count = try Int.fetchOne(
                    db, sql: "SELECT count(*) FROM detail WHERE trace_id = ?", arguments: [trace.blob])
                return TraceAnswer(
                    spans: try StoredSpans.decode(rows, in: db), more: max(0, (count ?? 0) - limit))
            }
        }
    }
}

/// Rows of `detail` with their senders.
private enum StoredSpans {
    static func decode(_ rows: some Sequence<Row>, in db: Database) throws -> [StoredSpan] {
        var resources: [Int64: TelemetryResource] = [:]
        return try rows.compactMap { row in
            let id: Int64 = row["resource_id"]
            let resource = try resources[id] ?? ResourceRows.find(id, in: db)
            resources[id] = resource
            guard let resource, let span = try DetailRows.decode(row) else { return nil }
            return StoredSpan(id: DetailID(row: row["id"]).description, resource: resource, span: span)
        }
    }
}
