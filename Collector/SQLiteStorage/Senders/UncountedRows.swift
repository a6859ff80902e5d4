import GRDB
import MartletPoints
import MartletStorage

/// The table of the times in which points of cumulative streams found no room: see ``CumulativeRows``.
enum UncountedRows {
    /// Notes the points of a sender that found no room.
    static func note(_ points: [CumulativePoint], of resource: Int64, in db: Database) throws {
        let ends = Dictionary(grouping: points.map { Int64(clamping: $0.point.end) }) { $0 / Tier.hour.length }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO uncounted (hour, resource_id, from_time, to_time) VALUES (?, ?, ?, ?)
                ON CONFLICT (hour, resource_id) DO UPDATE SET
                    from_time = min(from_time, excluded.from_time), to_time = max(to_time, excluded.to_time)
                """)
        for (hour, ends) in ends {
            guard let first = ends.min(), let last = ends.max() else { continue }
            try statement.execute(arguments: [hour, resource, first, last])
        }
    }

    /// Deletes hours that ended by a time, at most `limit`, and returns the number deleted.
    static func delete(until time: Int64, atMost limit: Int, in db: Database) throws -> Int {
        let statement = try db.cachedStatement(
            sql: """
                DELETE FROM uncounted WHERE (hour, resource_id) IN (
                    SELECT hour, resource_id FROM uncounted WHERE hour < ? LIMIT ?)
                """)
        try statement.execute(arguments: [time / Tier.hour.length, limit])
        return db.changesCount
    }
}
