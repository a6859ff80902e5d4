import GRDB
import MartletTelemetry

/// Deletes kept spans that are too old, or that exceed the limits on their number or bytes.
///
/// In the latter case, the service with the most loses the oldest spans of the endpoint with the most, so that a busy one does not
/// push out the spans of others. Traces with failed or slow requests go last, up to three quarters of the endpoint's spans.
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
            while deleted.count < rows, let surplus = try surplus(of: measure, past: limit, in: db),
                let share = try largestShare(by: measure, in: db),
                case let count = try remove(share, measure, toFree: surplus, atMost: rows - deleted.count, in: db),
                count > 0
            {
                deleted.early += count
            }
        }
        return deleted
    }

    /// Deletes rows up to an id, at most `rows`, and returns the number deleted.
    static func remove(upTo id: Int64, atMost rows: Int, in db: Database) throws -> Int {
        try db.delete(from: "detail", where: "id <= ? ORDER BY id", [id], atMost: rows)
    }

    /// Deletes the oldest rows, of any service, that together free about `bytes`, but at most `rows`. Returns the number
    /// deleted. Rows of failed and slow requests go after all others.
    static func removeOldest(toFree bytes: UInt64, atMost rows: Int, in db: Database) throws -> Int {
        for notable in [false, true] {
            let oldest = try Row.fetchCursor(
                db.cachedStatement(
                    sql: "SELECT id, bytes FROM detail INDEXED BY detail_by_age WHERE notable = ? ORDER BY id LIMIT ?"),
                arguments: [notable, rows])
            guard let last = try last(of: oldest, toFree: Int(clamping: bytes)) else { continue }
            return try db.delete(from: "detail", where: "notable = ? AND id <= ?", [notable, last], atMost: rows)
        }
        return 0
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

    /// The spans of an endpoint in traces with a failed or slow request, or in other traces.
    private struct Share {
        let service: String
        let owner: String
        let isNotable: Bool
        /// The spans of the endpoint and this class.
        let figure: Int

        var arguments: StatementArguments { [service, owner, isNotable] }
    }

    /// Returns by how much the total is past the limit; `nil` if it is within the limit.
    private static func surplus(of measure: Measure, past limit: Int, in db: Database) throws -> Int? {
        let statement = try db.cachedStatement(sql: "SELECT sum(\(measure)) FROM detail_share")
        let total = try Int.fetchOne(statement) ?? 0
        return total > limit ? total - limit : nil
    }

    /// Returns the share that gives up spans next.
    private static func largestShare(by measure: Measure, in db: Database) throws -> Share? {
        let services = try db.cachedStatement(
            sql: "SELECT service FROM detail_share ORDER BY \(measure) DESC LIMIT 1")
        let owners = try db.cachedStatement(
            sql: """
                SELECT owner, sum(\(measure) * (1 - notable)) AS usual, sum(\(measure) * notable) AS notable
                FROM endpoint_share WHERE service = ? GROUP BY owner ORDER BY sum(\(measure)) DESC LIMIT 1
                """)
        guard let service = try String.fetchOne(services), let row = try Row.fetchOne(owners, arguments: [service])
        else { return nil }
        let (usual, notable): (Int, Int) = (row["usual"], row["notable"])
        let isNotable = notable > maxNotable * usual
        return Share(service: service, owner: row["owner"], isNotable: isNotable, figure: isNotable ? notable : usual)
    }

    /// An endpoint keeps at most this many spans of failed and slow requests for each other one.
    private static let maxNotable = 3

    /// Deletes the oldest rows of a share that together free `surplus`, at most `rows`. Returns the number deleted.
    private static func remove(
        _ share: Share, _ measure: Measure, toFree surplus: Int, atMost rows: Int, in db: Database
    ) throws -> Int {
        let isShare = "service = ? AND owner = ? AND notable = ?"
        let oldest = try Row.fetchCursor(
            db.cachedStatement(
                sql: "SELECT id, \(measure.ofRow) FROM detail WHERE \(isShare) ORDER BY id LIMIT ?"),
            arguments: share.arguments + [rows])
        guard let last = try last(of: oldest, toFree: min(surplus, share.figure)) else { return 0 }
        return try db.delete(
            from: "detail", where: "\(isShare) AND id <= ?", share.arguments + [last], atMost: rows)
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
