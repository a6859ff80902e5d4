import GRDB
import MartletTelemetry

/// The ids of the batches that are stored.
enum BatchRows {
    /// False when the batch is known. Forgets those that are past their age, which costs one look at an index when there
    /// are none. A sender that names no batch cannot be told from another, so all of its batches are new.
    static func remember(
        _ batch: BatchID?, at now: UnixNanoseconds, keeping age: UnixNanoseconds, in db: Database
    ) throws -> Bool {
        guard let batch else { return true }
        try db.cachedStatement(sql: "DELETE FROM batch WHERE received < ?")
            .execute(arguments: [Int64(clamping: now) - Int64(clamping: age)])
        // All 64 bits count: two sequences must never become one.
        try db.cachedStatement(sql: "INSERT INTO batch VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
            .execute(arguments: [
                batch.instance, batch.signal.rawValue, Int64(bitPattern: batch.sequence), Int64(clamping: now),
            ])
        return db.changesCount == 1
    }
}
