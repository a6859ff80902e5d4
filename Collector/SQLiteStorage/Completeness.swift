import GRDB
import MartletStorage
import MartletTelemetry

/// The share of the requests that agents captured in a window that arrived.
///
/// `captured` counts on from an instance's start, so a batch that never arrived leaves a gap between what the ledgers
/// around it say and what the batches brought. An instance without a reading in the window is told of by the first one
/// behind it: the window lies within the gap before that, or within the hour that one reading is left of.
enum Completeness {
    /// Of the instances of `service`, or of all.
    static func share(in window: TimeWindow, service: String?, in db: Database) throws -> Double {
        // Doubles, and total() where sum() would throw: a sender that lies about its numbers must not break a report.
        var (arrived, captured) = (0.0, 0.0)
        // CROSS JOIN keeps the order of the tables: a search for each instance and no scan of all readings. The last line
        // leaves out who began after the window: merged batches and thinned ledgers have a reading for each hour at least.
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT total(l.requests) AS arrived, max(l.captured) AS captured,
                    (SELECT captured FROM ledger WHERE resource_id = resource.id AND time <= :from
                     ORDER BY time DESC LIMIT 1) AS before
                FROM resource CROSS JOIN ledger l ON l.resource_id = resource.id
                WHERE (:service IS NULL OR resource.service = :service) AND l.time > :from
                    AND l.time <= max(:to, (
                        SELECT min(time) FROM ledger WHERE resource_id = resource.id AND time > :from))
                GROUP BY resource.id
                HAVING (min(l.time) - 1) / :hour * :hour < :to OR before IS NOT NULL
                """,
            arguments: [
                "from": Int64(clamping: window.from), "to": Int64(clamping: window.to), "service": service,
                "hour": Tier.hour.length,
            ])
        while let row = try rows.next() {
            let (ofInstance, upToNow, before): (Double, Double, Double?) = (row[0], row[1], row[2])
            let outOf = max(upToNow - (before ?? 0), 0)
            // Each instance for itself: one that reports too much must not fill another's gap.
            arrived += min(ofInstance, outOf)
            captured += outOf
        }
        return captured > 0 ? arrived / captured : 1
    }
}
