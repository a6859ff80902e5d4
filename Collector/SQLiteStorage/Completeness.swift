import GRDB
import MartletStorage
import MartletTelemetry

/// The share of the requests of a window that arrived, as the ledgers of agents tell, and for how long agents did not look.
///
/// `captured` counts on from an instance's start, so a batch that never arrived leaves a gap between what the ledgers
/// around it say and what the batches brought. An instance without a reading in the window is told of by the first one
/// behind it: the window lies within the gap before that, or within the hour that one reading is left of.
enum Completeness {
    /// Of the instances of `service`, or of all.
    static func account(in window: TimeWindow, service: String?, in db: Database) throws -> WindowAccount {
        // Doubles, and total() where sum() would throw: a sender that lies about its numbers must not break a report.
        // CROSS JOIN keeps the order of the tables: a search for each instance and no scan of all readings. The last line
        // leaves out who began after the window: merged batches and thinned ledgers have a reading for each hour at least.
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT total(l.requests) AS arrived, max(l.captured) AS captured,
                    max(l.time) AS last, max(l.unwatched) AS unwatched,
                    first.time AS first, first.age AS first_age, first.unwatched AS first_unwatched,
                    before.captured AS before, before.time AS before_time, before.unwatched AS before_unwatched
                FROM resource
                CROSS JOIN ledger first ON first.resource_id = resource.id AND first.time = (
                    SELECT min(time) FROM ledger WHERE resource_id = resource.id AND time > :from)
                CROSS JOIN ledger l ON l.resource_id = resource.id
                LEFT JOIN ledger before ON before.resource_id = resource.id AND before.time = (
                    SELECT max(time) FROM ledger WHERE resource_id = resource.id AND time <= :from)
                WHERE (:service IS NULL OR resource.service = :service) AND l.time > :from
                    AND l.time <= max(:to, first.time)
                GROUP BY resource.id
                HAVING (first.time - 1) / :hour * :hour < :to OR before.time IS NOT NULL
                """,
            arguments: [
                "from": Int64(clamping: window.from), "to": Int64(clamping: window.to), "service": service,
                "hour": Tier.hour.length,
            ])
        var account = WindowAccount(window)
        while let row = try rows.next() {
            let before: Double? = row["before"]
            // Each instance for itself: one that reports too much must not fill another's gap.
            account.add(
                arrived: row["arrived"], captured: max(row["captured"] - (before ?? 0), 0),
                time: watch(in: window, row))
        }
        return account
    }

    /// The time that an instance lived of the window, and that of it in which capture was off. Before the first reading in
    /// the window that is spread evenly over the time since the one before, or since the instance's start.
    private static func watch(in window: TimeWindow, _ row: Row) -> WindowAccount.Watch {
        let (from, to) = (Double(window.from), Double(window.to))
        let (first, last, age): (Double, Double, Double) = (row["first"], row["last"], row["first_age"])
        let start: Double = row["before_time"] ?? first - age
        let (unwatched, until): (Double, Double) = (row["unwatched"], row["first_unwatched"])
        let earlier: Double = row["before_unwatched"] ?? 0
        let overlap = min(first, to) - max(start, from)
        let share = first > start ? max(0, overlap) / (first - start) : 1
        let lived = max(0, min(last, to) - max(start, from))
        let off = max(0, until - earlier) * share + max(0, unwatched - until)
        return WindowAccount.Watch(lived: lived, off: min(off, lived))
    }
}
