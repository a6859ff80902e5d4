import GRDB
import MartletTelemetry

enum SeriesRows {
    /// The row of a series, which is made at its first point.
    static func id(of dimensions: RequestDimensions, resource: Int64, in db: Database) throws -> Int64 {
        let arguments = StatementArguments([resource]) + columns(of: dimensions)
        let known = try db.cachedStatement(
            sql: """
                SELECT id FROM series WHERE resource_id = ? AND kind = ? AND method = ? AND host = ? AND port = ?
                    AND endpoint = ? AND status = ? AND error = ?
                """)
        if let id = try Int64.fetchOne(known, arguments: arguments) { return id }
        let new = try db.cachedStatement(
            sql: """
                INSERT INTO series (resource_id, kind, method, host, port, endpoint, status, error)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try new.execute(arguments: arguments)
        return db.lastInsertedRowID
    }

    /// In the order kind, method, host, port, endpoint, status, error.
    static func columns(of dimensions: RequestDimensions) -> StatementArguments {
        [
            dimensions.kind.rawValue, dimensions.method, dimensions.host, dimensions.port, dimensions.endpoint,
            dimensions.status ?? 0, dimensions.error ?? "",
        ]
    }

    /// `nil` for a kind that is not known.
    static func decode(_ row: Row) -> RequestDimensions? {
        guard let kind = RequestKind(rawValue: row["kind"]) else { return nil }
        let status: Int = row["status"]
        let error: String = row["error"]
        return RequestDimensions(
            kind: kind, method: row["method"], host: row["host"], port: row["port"], endpoint: row["endpoint"],
            status: status == 0 ? nil : status, error: error.isEmpty ? nil : error)
    }
}
