import GRDB
import MartletTelemetry

/// The deletion of kept spans that are too old or too many. If there are too many, the service with the most of them gives up
/// its oldest, so that a noisy service does not push out those of others.
enum DetailPruning {
    /// Deletes rows that are past the limits, at most `rows`, and returns the number deleted.
    static func prune(atMost rows: Int, at now: UnixNanoseconds, _ limits: SQLiteLimits, in db: Database) throws -> Int
    {
        let time = Int64(clamping: now) - Int64(clamping: limits.detailAge)
        let old = try delete("received < ? LIMIT ?", [time, rows], in: db)
        var deleted = old
        while deleted < rows, let (service, surplus) = try largest(past: limits.maxDetails, in: db) {
            let number = try delete("service = ? ORDER BY id LIMIT ?", [service, min(surplus, rows - deleted)], in: db)
            guard number > 0 else { break }
            deleted += number
        }
        return deleted
    }

    /// Deletes rows up to an id, at most `rows`, and returns the number deleted.
    static func remove(upTo id: Int64, atMost rows: Int, in db: Database) throws -> Int {
        try delete("id <= ? LIMIT ?", [id, rows], in: db)
    }

    /// Returns the service with the most rows, and the number of rows to delete; `nil` if there are at most `limit` rows.
    private static func largest(past limit: Int, in db: Database) throws -> (service: String, surplus: Int)? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT service, count, (SELECT sum(count) FROM detail_share) AS total
                FROM detail_share ORDER BY count DESC LIMIT 1
                """)
        guard let row = try Row.fetchOne(statement) else { return nil }
        let (most, total): (Int, Int) = (row["count"], row["total"])
        return total > limit ? (row["service"], min(total - limit, most)) : nil
    }

    private static func delete(_ condition: String, _ arguments: StatementArguments, in db: Database) throws -> Int {
        try db.cachedStatement(sql: "DELETE FROM detail WHERE id IN (SELECT id FROM detail WHERE \(condition))")
            .execute(arguments: arguments)
        return db.changesCount
    }
}
