import GRDB

/// A chunk as it was read: its points and the number that it should have.
struct StoredChunk {
    /// `nil` if the disk returned other bytes than were written.
    var bytes: [UInt8]?
    var count: Int
    var damaged: Int
    var resource: Int64
    var end: Int64

    static func find(_ id: Int64, in db: Database) throws -> StoredChunk? {
        let statement = try db.cachedStatement(
            sql: "SELECT \(columns) FROM chunk WHERE id = ?")
        let rows = try Row.fetchCursor(statement, arguments: [id])
        var chunk: StoredChunk?
        // The row is valid as long as the cursor is.
        while let row = try rows.next() { chunk = try StoredChunk(row) }
        return chunk
    }

    /// Calls `body` for many chunks, in the order of `ids`. A statement for each would take as long as reading its points, if
    /// they are few.
    ///
    /// - Parameter isOfSummaries: whether the numbers are those of summaries.
    static func forEach(
        _ ids: [Int64], isOfSummaries: Bool, in db: Database, _ body: (StoredChunk) throws -> Void
    ) throws {
        let table = isOfSummaries ? "summary" : "chunk"
        let statement = try db.cachedStatement(
            sql: "SELECT \(columns) FROM json_each(?) wanted CROSS JOIN \(table) ON \(table).id = wanted.value")
        let list = "[" + ids.map(String.init).joined(separator: ",") + "]"
        let rows = try Row.fetchCursor(statement, arguments: [list])
        while let row = try rows.next() { try body(StoredChunk(row)) }
    }

    private static let columns = "points, checksum, count, damaged, resource_id, end_time"

    /// Reads a row that begins with these columns.
    private init(_ row: Row) throws {
        let found = try row.withUnsafeData(atIndex: 0) { data in data.map { [UInt8]($0) } ?? [] }
        bytes = ChunkChecksum.of(found) == row[1] ? found : nil
        count = row[2]
        damaged = row[3]
        (resource, end) = (row[4], row[5])
    }
}
