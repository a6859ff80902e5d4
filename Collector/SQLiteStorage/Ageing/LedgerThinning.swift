import GRDB
import MartletStorage

/// Reduces a ledger to one reading for each hour once the finest resolution has expired: with one for each batch, a sender
/// that lives for a year would have three million.
///
/// The reading with the most captured requests stays and takes the requests of all, so the share of requests that arrived
/// stays the same for windows of whole hours.
enum LedgerThinning {
    /// Hours that one step thins at most.
    static let maxHours = 256

    struct Hour {
        let resource: Int64
        /// The end of the hour; its readings have times in `(end - hour, end]`.
        let end: Int64
    }

    /// Returns hours with several readings that lie in `(from, to]`, both of which are ends of hours.
    static func hours(from: Int64, to: Int64, in db: Database) throws -> [Hour] {
        let length = Tier.hour.length
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT resource.id, (time - 1) / \(length) AS hour FROM resource
                JOIN ledger ON ledger.resource_id = resource.id AND time > ? AND time <= ?
                GROUP BY resource.id, hour HAVING count(*) > 1 LIMIT \(maxHours)
                """,
            arguments: [from, to])
        return rows.map { Hour(resource: $0[0], end: ($0[1] + 1) * length) }
    }

    static func thin(_ hour: Hour, in db: Database) throws {
        let (from, to) = (hour.end - Tier.hour.length, hour.end)
        let readings = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT time, requests FROM ledger WHERE resource_id = ? AND time > ? AND time <= ?
                    ORDER BY captured DESC, time DESC
                    """),
            arguments: [hour.resource, from, to])
        guard let kept = readings.first.map({ $0[0] as Int64 }) else { return }
        let requests = readings.reduce(Int64(0)) { sum, reading in
            let (total, isTooLarge) = sum.addingReportingOverflow(reading[1])
            return isTooLarge ? .max : total
        }
        try db.cachedStatement(
            sql: "DELETE FROM ledger WHERE resource_id = ? AND time > ? AND time <= ? AND time != ?"
        ).execute(arguments: [hour.resource, from, to, kept])
        try db.cachedStatement(sql: "UPDATE ledger SET requests = ? WHERE resource_id = ? AND time = ?")
            .execute(arguments: [requests, hour.resource, kept])
    }
}
