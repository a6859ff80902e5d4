import GRDB
import MartletStorage
import MartletTelemetry

enum LedgerRows {
    /// If two batches of one instance have the same time, the row keeps the later account and the sum of their requests.
    private static let conflict = """
        ON CONFLICT (resource_id, time) DO UPDATE SET
            captured = max(captured, excluded.captured), delivered = excluded.delivered,
            waiting = excluded.waiting, dropped = excluded.dropped,
            age = max(age, excluded.age), unwatched = max(unwatched, excluded.unwatched),
            cpu = max(cpu, excluded.cpu),
            requests = CASE
                WHEN requests > \(Int64.max) - excluded.requests THEN \(Int64.max)
                ELSE requests + excluded.requests END
        """

    static func insert(_ reading: LedgerReading, requests: UInt64, resource: Int64, in db: Database) throws {
        try insertion.insert(NewRow(reading: reading, requests: requests, resource: resource), in: db)
    }

    private struct NewRow {
        let reading: LedgerReading
        let requests: UInt64
        let resource: Int64
    }

    private static let insertion = RowInsertion(into: "ledger", columns + numbers, onConflict: conflict)

    private static let columns: [NamedColumn<NewRow>] = [
        NamedColumn<NewRow>("resource_id") { $0.resource },
        NamedColumn<NewRow>("dropped") { DroppedText.text(of: $0.reading.dropped) },
    ]
    private static let numbers: [NamedColumn<NewRow>] = [
        number("time") { $0.reading.time }, number("captured") { $0.reading.captured },
        number("delivered") { $0.reading.delivered }, number("waiting") { $0.reading.waiting },
        number("requests") { $0.requests }, number("age") { $0.reading.age },
        number("unwatched") { $0.reading.unwatched }, number("cpu") { $0.reading.agentCPU },
    ]

    private static func number(
        _ name: String, _ value: @escaping @Sendable (NewRow) -> UInt64
    ) -> NamedColumn<NewRow> {
        NamedColumn(name) { Int64(clamping: value($0)) }
    }

    /// Returns the account with the most captured requests, brought up to date. The agent wrote it before its batch and the batches
    /// waiting with it arrived. The time does not identify the latest account, because a sender's clock may be set back.
    static func latest(of resource: Int64, in db: Database) throws -> LedgerReading? {
        let statement = try db.cachedStatement(
            sql: "SELECT * FROM ledger WHERE resource_id = ? ORDER BY captured DESC, time DESC LIMIT 1")
        guard let row = try Row.fetchOne(statement, arguments: [resource]) else { return nil }
        let reading = decode(row, arrived: 0)
        // Most agents have no other batch waiting. Adding up thousands of readings would take longer than all other work.
        return reading.waiting == 0 ? reading : decode(row, arrived: try arrived(from: resource, in: db))
    }

    /// Returns the requests in all batches of a sender. It uses total(), because sum() fails past 63 bits, and a sender with false
    /// numbers must not hide the others.
    private static func arrived(from resource: Int64, in db: Database) throws -> UInt64 {
        let statement = try db.cachedStatement(
            sql: "SELECT CAST(min(total(requests), 9e18) AS INTEGER) FROM ledger WHERE resource_id = ?")
        return UInt64(clamping: try Int64.fetchOne(statement, arguments: [resource]) ?? 0)
    }

    /// Decodes an account and brings it up to date.
    private static func decode(_ row: Row, arrived: UInt64) -> LedgerReading {
        LedgerReading(
            time: row.unsigned("time"), captured: row.unsigned("captured"), delivered: row.unsigned("delivered"),
            waiting: row.unsigned("waiting"), dropped: DroppedText.dropped(from: row["dropped"]),
            age: row.unsigned("age"), unwatched: row.unsigned("unwatched"), agentCPU: row.unsigned("cpu")
        ).upToDate(requests: row.unsigned("requests"), arrived: arrived)
    }
}

/// Reduces a ledger to one reading for each hour once the finest resolution has expired. With one reading for each batch, a
/// sender that lives for a year would have three million.
///
/// The reading with the most captured requests stays and gets the requests of all readings of its hour. So the share of
/// requests that arrived stays the same for windows of whole hours.
enum LedgerThinning {
    /// The largest number of hours that one step thins.
    static let maxHours = 256

    struct Hour {
        let resource: Int64
        /// The end of the hour; its readings have times in `(end - hour, end]`.
        let end: Int64
    }

    /// Returns hours in `(from, to]` with several readings. Both bounds are ends of hours.
    static func hours(from: Int64, to: Int64, in db: Database) throws -> [Hour] {
        let length = Tier.hour.length
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT resource.id, (time - 1) / \(length) AS hour
                FROM (SELECT id FROM \(ResourceRows.since(from))) AS resource
                CROSS JOIN ledger ON ledger.resource_id = resource.id AND time > \(from) AND time <= \(to)
                GROUP BY resource.id, hour HAVING count(*) > 1 LIMIT \(maxHours)
                """
        ).fetchAll(db)
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
