import Foundation
import GRDB

/// The table of summaries: see ``SummaryMaking``.
enum SummaryRows {
    static func insert(_ blob: ChunkBlob, of resource: Int64, end: Int64, damaged: Int, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO summary (resource_id, end_time, count, damaged, checksum, points) VALUES (?, ?, ?, ?, ?, ?)
                """)
        let bytes = blob.bytes
        try statement.execute(arguments: [resource, end, blob.count, damaged, ChunkChecksum.of(bytes), Data(bytes)])
    }

    /// Deletes summaries, at most `maxRows`, and returns the number deleted.
    static func delete(until end: Int64, atMost maxRows: Int, in db: Database) throws -> Int {
        let statement = try db.cachedStatement(
            sql: "DELETE FROM summary WHERE id IN (SELECT id FROM summary WHERE end_time <= ? LIMIT ?)")
        try statement.execute(arguments: [end, maxRows])
        return db.changesCount
    }
}
