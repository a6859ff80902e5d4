import GRDB
import MartletTelemetry

/// Access to rows by the names of their columns. The statements of series and chunks instead have fixed texts and read columns
/// by position, because these tables have the most rows.
extension Database {
    typealias Column = (name: String, value: (any DatabaseValueConvertible)?)

    /// Inserts a row.
    ///
    /// - Parameter conflict: the clause for a row that is already there.
    func insert(into table: String, _ columns: [Column], onConflict conflict: String = "") throws {
        let names = columns.map(\.name).joined(separator: ", ")
        try cachedStatement(sql: "INSERT INTO \(table) (\(names)) VALUES (\(Self.marks(columns.count))) \(conflict)")
            .execute(arguments: StatementArguments(columns.map(\.value)))
    }

    static func marks(_ count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ", ") }

    /// Deletes rows, at most `limit`, and returns the number deleted.
    ///
    /// - Parameters:
    ///   - key: the columns that identify a row.
    ///   - condition: the condition on the rows, and their order.
    func delete(
        from table: String, by key: String = "id", where condition: String, _ arguments: StatementArguments,
        atMost limit: Int
    ) throws -> Int {
        try cachedStatement(
            sql: "DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE \(condition) LIMIT ?)"
        ).execute(arguments: arguments + [limit])
        return changesCount
    }
}

extension Row {
    /// Returns a number that is never negative, such as a time.
    func unsigned(_ column: String) -> UInt64 { UInt64(clamping: self[column] as Int64) }
}
