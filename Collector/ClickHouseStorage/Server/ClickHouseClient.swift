/// Statements on the tables of a store.
struct ClickHouseClient: Sendable {
    let connection: ClickHouseConnection
    /// The settings in which versions differ: see ``init(_:_:)``.
    private let settings: [(String, String)]

    /// Long lists of values stand in the statements.
    private static let common = [
        ("max_query_size", "67108864"), ("max_ast_elements", "2000000"), ("max_expanded_ast_elements", "2000000"),
    ]

    /// Asks the server for its version. All differences between versions are here and in ``Schema/durability``.
    init(_ location: ClickHouseLocation, _ credentials: ClickHouseCredentials) async throws {
        connection = ClickHouseConnection(location, credentials)
        var version = RowReader(
            try await connection.run("SELECT version() FORMAT RowBinary", isInDatabase: false))
        let major = Int(try version.text().prefix { $0 != "." }) ?? 0
        isModern = major >= 21
        // A modern server may otherwise answer before the rows are stored, and refuses batches of many weeks.
        settings = Self.common + (isModern ? [("async_insert", "0"), ("max_partitions_per_insert_block", "0")] : [])
    }

    /// Whether the server knows the settings of 2021 and later.
    let isModern: Bool

    func run(_ sql: String, isInDatabase: Bool = true) async throws {
        _ = try await connection.run(sql, isInDatabase: isInDatabase, settings: settings)
    }

    /// Returns the rows of a SELECT, which has no FORMAT.
    ///
    /// - Parameter isInDatabase: `false` if the database may be missing.
    func rows<Row>(
        _ sql: String, isInDatabase: Bool = true, _ decode: (inout RowReader) throws -> Row
    ) async throws -> [Row] {
        let answer = try await connection.run(
            sql + " FORMAT RowBinary", isInDatabase: isInDatabase, settings: settings)
        var reader = RowReader(answer)
        var rows: [Row] = []
        while !reader.isAtEnd { rows.append(try decode(&reader)) }
        return rows
    }

    /// Inserts rows with one statement: all rows of a partition become visible at once.
    func insert(_ rows: TableRows) async throws {
        guard rows.count > 0 else { return }
        _ = try await connection.run(
            "INSERT INTO \(rows.table.name) (\(rows.table.columnList)) FORMAT RowBinary", rows: rows.bytes,
            settings: settings)
    }
}
