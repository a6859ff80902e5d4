import Foundation
import GRDB

/// A row of the table `chunk`.
struct ChunkRow {
    var tier: Tier
    var resource: Int64
    /// When the points' intervals ended; for derived ones the end of their slot, or a time within it: see
    /// ``RollUp``.
    var end: Int64
    /// Whether it was rolled up from the tier below, and not delivered as it is.
    var isDerived: Bool
    /// Points of its sources that are not in it because they could not be read.
    var damaged: Int

    /// Not rolled up yet.
    func insert(_ blob: ChunkBlob, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO chunk (tier, rolled, derived, resource_id, end_time, count, damaged, checksum, points)
                VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?)
                """)
        let bytes = blob.bytes
        try statement.execute(arguments: [
            tier.rawValue, isDerived, resource, end, blob.count, damaged, ChunkChecksum.of(bytes), Data(bytes),
        ])
    }

    /// Whether there is one that was delivered with the same points, rolled up or not.
    func isKnown(_ blob: ChunkBlob, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                SELECT 1 FROM chunk WHERE tier = ? AND rolled IN (0, 1) AND end_time = ? AND resource_id = ?
                    AND NOT derived AND checksum = ? AND points = ?
                """)
        let bytes = blob.bytes
        return try Row.fetchOne(
            statement, arguments: [tier.rawValue, end, resource, ChunkChecksum.of(bytes), Data(bytes)]) != nil
    }
}

/// What is read of a chunk: its points and how many of them there should be.
struct StoredChunk {
    /// `nil` where the disk gave back something else than was written.
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
        // The row is there as long as the cursor is.
        while let row = try rows.next() { chunk = try StoredChunk(row) }
        return chunk
    }

    /// Of many at once, in this order: a statement for each takes as long as its points do where they are few.
    ///
    /// - Parameter body: gets the place of the chunk's id among `ids` too.
    static func forEach(_ ids: [Int64], in db: Database, _ body: (Int, StoredChunk) throws -> Void) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(columns), wanted.key
                FROM json_each(?) wanted CROSS JOIN chunk ON chunk.id = wanted.value
                """)
        let list = "[" + ids.map(String.init).joined(separator: ",") + "]"
        let rows = try Row.fetchCursor(statement, arguments: [list])
        while let row = try rows.next() { try body(row[6], StoredChunk(row)) }
    }

    private static let columns = "points, checksum, count, damaged, resource_id, end_time"

    /// Of a row that begins with these columns.
    private init(_ row: Row) throws {
        let found = try row.withUnsafeData(atIndex: 0) { data in data.map { [UInt8]($0) } ?? [] }
        bytes = ChunkChecksum.of(found) == row[1] ? found : nil
        count = row[2]
        damaged = row[3]
        (resource, end) = (row[4], row[5])
    }
}
