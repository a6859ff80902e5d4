import Foundation
import GRDB
import MartletStorage

/// A row of the table `chunk`.
struct ChunkRow {
    var tier: Tier
    var resource: Int64
    /// The end of the points' intervals; for derived chunks the end of their slot, or a time within it: see ``RollUp``.
    var end: Int64
    /// Whether it was rolled up from the tier below; `false` for points as they were delivered.
    var isDerived: Bool
    /// Points of its sources that are missing because they could not be read.
    var damaged: Int

    /// Inserts the row, as not rolled up yet.
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

    /// Whether a chunk was delivered with the same points, rolled up or not.
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
