import GRDB
import MartletTelemetry

/// The table of series: the dimensions that tell requests of one service apart. Senders share their service's series, so
/// processes that come and go add none.
enum SeriesRows {
    static func find(_ dimensions: RequestDimensions, service: String, in db: Database) throws -> Row? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, day FROM series WHERE service = ? AND kind = ? AND method = ? AND host = ? AND port = ?
                    AND endpoint = ? AND status = ? AND error = ? AND rule = ?
                """)
        return try Row.fetchOne(statement, arguments: [service] + columns(of: dimensions))
    }

    /// - Parameter day: see ``SeriesDay``.
    static func insert(
        _ dimensions: RequestDimensions, service: String, day: Int64, in db: Database
    ) throws -> Int64 {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO series (service, kind, method, host, port, endpoint, status, error, rule, day)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [service] + columns(of: dimensions) + [day])
        return db.lastInsertedRowID
    }

    static func update(_ id: Int64, day: Int64, in db: Database) throws {
        try db.cachedStatement(sql: "UPDATE series SET day = ? WHERE id = ?").execute(arguments: [day, id])
    }

    /// Returns the number of series with points on a day or a later one.
    static func count(ofService service: String, since day: Int64, in db: Database) throws -> Int {
        let statement = try db.cachedStatement(sql: "SELECT count(*) FROM series WHERE service = ? AND day >= ?")
        return try Int.fetchOne(statement, arguments: [service, day]) ?? 0
    }

    /// Returns kind, method, host, port, endpoint, status, error and rule, in this order.
    static func columns(of dimensions: RequestDimensions) -> StatementArguments {
        [
            text(of: dimensions.kind, dimensions.source), dimensions.method, dimensions.host, dimensions.port,
            dimensions.endpoint,
            dimensions.status ?? 0, dimensions.error ?? "", dimensions.rule ?? "",
        ]
    }

    /// `client`, or `client spans` for requests that are known from spans alone.
    private static func text(of kind: RequestKind, _ source: StatisticsSource) -> String {
        source == .metrics ? kind.rawValue : "\(kind.rawValue) \(source.rawValue)"
    }

    /// Returns all texts in the column of kinds that stand for a kind of this name.
    static func kinds(named name: String) -> [String] {
        RequestKind(rawValue: name).map { [text(of: $0, .metrics), text(of: $0, .spans)] } ?? []
    }

    /// Returns `nil` for a series that has been deleted.
    static func find(_ id: Int64, in db: Database) throws -> RequestDimensions? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM series WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id]).flatMap(decode)
    }

    /// Returns the number of the series of a service that was made last; `nil` if it has none.
    static func latest(ofService service: String, in db: Database) throws -> Int64? {
        let statement = try db.cachedStatement(sql: "SELECT max(id) FROM series WHERE service = ?")
        return try Int64.fetchOne(statement, arguments: [service])
    }

    /// Returns all series of a service. They are read at once: reading each as it is met takes five times as long.
    static func all(ofService service: String, latest: Int64?, in db: Database) throws -> KnownSeries {
        // The index over these columns has them all, in their order.
        let statement = try db.cachedStatement(
            sql: "SELECT id, kind, method, host, port, endpoint, status, error, rule FROM series WHERE service = ?")
        let rows = try Row.fetchCursor(statement, arguments: [service])
        var series = KnownSeries(latest: latest)
        while let row = try rows.next() {
            let dimensions = dimensions(
                kind: row[1], method: row[2], host: row[3], port: row[4], endpoint: row[5], status: row[6],
                error: row[7], rule: row[8])
            series.append(row[0], dimensions)
        }
        series.sort()
        return series
    }

    /// Reads the columns by their names. Returns `nil` for an unknown kind.
    static func decode(_ row: Row) -> RequestDimensions? {
        dimensions(
            kind: row["kind"], method: row["method"], host: row["host"], port: row["port"], endpoint: row["endpoint"],
            status: row["status"], error: row["error"], rule: row["rule"])
    }

    /// Returns the dimensions that ``columns(of:)`` made the values from; `nil` for an unknown kind.
    static func dimensions(
        kind text: String, method: String, host: String, port: Int, endpoint: String, status: Int, error: String,
        rule: String
    ) -> RequestDimensions? {
        guard let (kind, source) = kind(of: text) else { return nil }
        var dimensions = RequestDimensions(
            kind: kind, method: method, host: host, port: port, endpoint: endpoint, status: status == 0 ? nil : status,
            error: error.isEmpty ? nil : error)
        dimensions.source = source
        dimensions.rule = rule.isEmpty ? nil : rule
        return dimensions
    }

    private static func kind(of text: String) -> (RequestKind, StatisticsSource)? {
        if let kind = RequestKind(rawValue: text) { return (kind, .metrics) }
        let words = text.split(separator: " ")
        guard words.count == 2, let kind = RequestKind(rawValue: String(words[0])),
            let source = StatisticsSource(rawValue: String(words[1]))
        else { return nil }
        return (kind, source)
    }
}
