import GRDB
import MartletStorage
import MartletTelemetry

/// The share of a window's requests that arrived, according to the agents' ledgers, and how long capture was off.
///
/// `captured` counts on from an instance's start, so a batch that never arrived leaves a gap between the ledgers around it
/// and the requests in the batches. An instance without a reading in the window is judged by its first reading after the
/// window: the window lies within the gap before that reading, or within the hour of which only that reading is left.
enum Completeness {
    /// Returns the account of the senders that the filter selects.
    static func account(in window: TimeWindow, _ filter: RequestFilter, in db: Database) throws -> WindowAccount {
        // The sums are doubles, and total() replaces sum(), which would throw: a sender that lies about its numbers must not
        // break a report. CROSS JOIN keeps the order of the tables: a search for each instance and no scan of all readings.
        // The HAVING clause leaves out instances that began after the window. Without an age, an instance counts as begun in
        // the hour of its first reading: merged batches and thinned ledgers have a reading for each hour at least.
        let (from, to, hour) = (Int64(clamping: window.from), Int64(clamping: window.to), Tier.hour.length)
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT resource.service AS service, total(l.requests) AS arrived, max(l.captured) AS captured,
                    max(l.time) AS last, max(l.unwatched) AS unwatched,
                    first.time AS first, first.age AS first_age, first.unwatched AS first_unwatched,
                    before.captured AS before, before.time AS before_time, before.unwatched AS before_unwatched,
                    after.time AS after, after.unwatched AS after_unwatched
                FROM resource
                CROSS JOIN ledger first ON first.resource_id = resource.id AND first.time = (
                    SELECT min(time) FROM ledger WHERE resource_id = resource.id AND time > \(from))
                CROSS JOIN ledger l ON l.resource_id = resource.id
                LEFT JOIN ledger before ON before.resource_id = resource.id AND before.time = (
                    SELECT max(time) FROM ledger WHERE resource_id = resource.id AND time <= \(from))
                LEFT JOIN ledger after ON after.resource_id = resource.id AND after.time = (
                    SELECT min(time) FROM ledger WHERE resource_id = resource.id AND time > \(to))
                WHERE \(filter.senderCondition) AND l.time > \(from) AND l.time <= max(\(to), first.time)
                GROUP BY resource.id
                HAVING before.time IS NOT NULL
                    OR iif(first.age > 0, first.time - first.age, (first.time - 1) / \(hour) * \(hour)) < \(to)
                """
        ).fetchCursor(db)
        var account = WindowAccount(window)
        account.uncountedSenders = try uncountedSenders(in: window, filter, in: db)
        account.clocksAhead = try clocksAhead(in: window, filter, in: db)
        while let row = try rows.next() {
            account.add(InstanceReadings(row), of: row["service"])
        }
        return account
    }

    /// Returns the clocks of the senders that may have requests in a window and that the filter selects.
    private static func clocksAhead(
        in window: TimeWindow, _ filter: RequestFilter, in db: Database
    ) throws -> WindowAccount.ClocksAhead {
        let tolerance = WindowAccount.ClocksAhead.tolerance
        let row = try SQLRequest<Row>(
            literal: """
                SELECT count(*) AS senders, max(last_end - last_seen) AS longest FROM resource
                WHERE first_seen <= \(Int64(clamping: window.to)) AND last_end >= \(Int64(clamping: window.from))
                    AND last_end - last_seen > \(tolerance) AND \(filter.senderCondition)
                """
        ).fetchOne(db)
        guard let row, let longest: Int64 = row["longest"] else { return WindowAccount.ClocksAhead() }
        return WindowAccount.ClocksAhead(senders: row["senders"], longest: UInt64(clamping: longest))
    }

    /// Returns the number of senders of which points of the window found no room, among those that the filter selects.
    private static func uncountedSenders(
        in window: TimeWindow, _ filter: RequestFilter, in db: Database
    ) throws -> Int {
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
}

extension InstanceReadings {
    /// Reads a row of the statement above.
    fileprivate init(_ row: Row) {
        self.init(
            arrived: row["arrived"], captured: row["captured"],
            first: WindowAccount.Reading(time: row["first"], unwatched: row["first_unwatched"]),
            firstAge: row["first_age"],
            last: WindowAccount.Reading(time: row["last"], unwatched: row["unwatched"]))
        if let time: Double = row["before_time"] {
            before = (captured: row["before"], WindowAccount.Reading(time: time, unwatched: row["before_unwatched"]))
        }
        if let time: Double = row["after"] {
            after = WindowAccount.Reading(time: time, unwatched: row["after_unwatched"])
        }
    }
}
