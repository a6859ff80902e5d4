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
            text(of: dimensions.kind, dimensions.source), dimensions.method, dimensions.host, dimensions.port,
            dimensions.endpoint,
            dimensions.status ?? 0, dimensions.error ?? "",
        ]
    }

    /// What each kind of a sender's requests is known from.
    static func sources(of resource: Int64, in db: Database) throws -> [RequestKind: StatisticsSource] {
        let kinds = try String.fetchSet(
            db, sql: "SELECT DISTINCT kind FROM series WHERE resource_id = ?", arguments: [resource])
        return RequestKind.allCases.reduce(into: [:]) { sources, kind in
            // Metrics have what spans have, see ``MetricsCover``.
            sources[kind] = StatisticsSource.allCases.first { kinds.contains(text(of: kind, $0)) }
        }
    }

    /// `client`, and `client spans` for what is known from spans alone.
    private static func text(of kind: RequestKind, _ source: StatisticsSource) -> String {
        source == .metrics ? kind.rawValue : "\(kind.rawValue) \(source.rawValue)"
    }

    /// `nil` for a kind that is not known.
    static func decode(_ row: Row) -> RequestDimensions? {
        let words = (row["kind"] as String).split(separator: " ")
        guard let kind = words.first.flatMap({ RequestKind(rawValue: String($0)) }),
            let source = words.count == 1 ? .metrics : StatisticsSource(rawValue: String(words[1]))
        else { return nil }
        let status: Int = row["status"]
        let error: String = row["error"]
        var dimensions = RequestDimensions(
            kind: kind, method: row["method"], host: row["host"], port: row["port"], endpoint: row["endpoint"],
            status: status == 0 ? nil : status, error: error.isEmpty ? nil : error)
        dimensions.source = source
        return dimensions
    }
}
