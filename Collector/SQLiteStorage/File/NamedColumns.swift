import GRDB
import MartletTelemetry

/// A column of a table, and its value for an item. Chunks instead have a statement with a fixed text, and are read by position,
/// because their table has the most rows.
struct NamedColumn<Item>: Sendable {
    let name: String
    let value: @Sendable (Item) -> (any DatabaseValueConvertible)?

    init(_ name: String, _ value: @escaping @Sendable (Item) -> (any DatabaseValueConvertible)?) {
        (self.name, self.value) = (name, value)
    }
}

/// Inserts rows into a table. Its text is made once, because a text for each row costs a quarter of storing it.
struct RowInsertion<Item>: Sendable {
    private let sql: String
    private let columns: [NamedColumn<Item>]

    /// - Parameter conflict: the clause for a row that is already there.
    init(into table: String, _ columns: [NamedColumn<Item>], onConflict conflict: String = "") {
        let names = columns.map(\.name).joined(separator: ", ")
        sql = "INSERT INTO \(table) (\(names)) VALUES (\(Database.marks(columns.count))) \(conflict)"
        self.columns = columns
    }

    func insert(_ item: Item, in db: Database) throws {
        let values: [(any DatabaseValueConvertible)?] = columns.map { $0.value(item) }
        try db.cachedStatement(sql: sql).execute(arguments: StatementArguments(values))
    }
}

extension Database {
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
