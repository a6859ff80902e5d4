import GRDB
import MartletPoints
import MartletStorage
import MartletTelemetry

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

    /// Returns the number of senders of which points of the window found no room, among those that the filter selects.
    static func senders(in window: TimeWindow, _ filter: RequestFilter, in db: Database) throws -> Int {
        let (from, to) = (Int64(clamping: window.from), Int64(clamping: window.to))
        return try SQLRequest<Int>(
            literal: """
                SELECT count(DISTINCT resource_id) FROM uncounted
                CROSS JOIN resource ON resource.id = resource_id
                WHERE hour BETWEEN \(from / Tier.hour.length) AND \(to / Tier.hour.length)
                    AND to_time > \(from) AND from_time <= \(to) AND \(filter.senderCondition)
                """
        ).fetchOne(db) ?? 0
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
