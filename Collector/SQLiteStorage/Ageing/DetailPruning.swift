import GRDB
import MartletTelemetry

/// Deletes kept spans that are too old, or that exceed the limits on their number or bytes. In the latter case, the service
/// with the most loses its oldest spans, so that a noisy service does not push out the spans of others.
enum DetailPruning {
    struct Deleted {
        /// Rows deleted because of their age.
        var old = 0
        /// Rows deleted to make room for others.
        var early = 0

        var count: Int { old + early }
    }

    /// Deletes rows that are past the limits, at most `rows`.
    ///
    /// - Parameter time: the time that retention uses.
    static func prune(atMost rows: Int, at time: Int64, _ limits: SQLiteLimits, in db: Database) throws -> Deleted {
        let oldest = time.subtractingReportingOverflow(Int64(clamping: limits.detailAge)).partialValue
        var deleted = Deleted()
        deleted.old = try db.delete(from: "detail", where: "received < ?", [oldest], atMost: rows)
        for (measure, limit) in [(Measure.count, limits.maxDetails), (.bytes, limits.maxDetailsBytes)] {
            while deleted.count < rows, let (service, surplus) = try largest(by: measure, past: limit, in: db) {
                let oldest = try Row.fetchCursor(
                    db.cachedStatement(
                        sql: "SELECT id, \(measure.ofRow) FROM detail WHERE service = ? ORDER BY id LIMIT ?"),
                    arguments: [service, rows - deleted.count])
                guard let last = try last(of: oldest, toFree: surplus) else { break }
                deleted.early += try db.delete(
                    from: "detail", where: "service = ? AND id <= ?", [service, last], atMost: rows)
            }
        }
        return deleted
    }

    /// Deletes rows up to an id, at most `rows`, and returns the number deleted.
    static func remove(upTo id: Int64, atMost rows: Int, in db: Database) throws -> Int {
        try db.delete(from: "detail", where: "id <= ? ORDER BY id", [id], atMost: rows)
    }

    /// Deletes the oldest rows, of any service, that together free about `bytes`, but at most `rows`. Returns the number
    /// deleted.
    static func removeOldest(toFree bytes: UInt64, atMost rows: Int, in db: Database) throws -> Int {
        let oldest = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT id, bytes FROM detail ORDER BY id LIMIT ?"), arguments: [rows])
        guard let last = try last(of: oldest, toFree: Int(clamping: bytes)) else { return 0 }
        return try remove(upTo: last, atMost: rows, in: db)
    }

    /// Corrects rows that a fast clock has stamped with a future time, at most `rows`. They get the present time, so that they
    /// expire.
    static func restamp(atMost rows: Int, receivedAfter latest: Int64, at time: Int64, in db: Database) throws -> Int {
        try db.cachedStatement(
            sql: "UPDATE detail SET received = ? WHERE id IN (SELECT id FROM detail WHERE received > ? LIMIT ?)"
        ).execute(arguments: [time, latest, rows])
        return db.changesCount
    }

    /// A figure that has a limit. The raw value is its column in `detail_share`.
    private enum Measure: String {
        case count
        case bytes

        /// The SQL expression for the share of one row in the figure.
        var ofRow: String { self == .count ? "1" : "bytes" }
    }

    /// Returns the service with the largest figure, and the surplus that it can free; `nil` if the total is within the limit.
    private static func largest(
        by measure: Measure, past limit: Int, in db: Database
    ) throws -> (service: String, surplus: Int)? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT service, \(measure) AS most, (SELECT sum(\(measure)) FROM detail_share) AS total
                FROM detail_share ORDER BY \(measure) DESC LIMIT 1
                """)
        guard let row = try Row.fetchOne(statement) else { return nil }
        let (most, total): (Int, Int) = (row["most"], row["total"])
        return total > limit ? (row["service"], min(total - limit, most)) : nil
    }

    /// Returns the id of the last of the rows that together free `surplus`; `nil` if there are no rows.
    private static func last(of rows: RowCursor, toFree surplus: Int) throws -> Int64? {
        var (last, freed): (Int64?, Int) = (nil, 0)
        while freed < surplus, let row = try rows.next() {
            last = row[0]
            freed += row[1]
        }
        return last
    }
}
