import GRDB
import MartletStorage
import MartletTelemetry

/// The share of the requests that agents captured in a window that arrived.
///
/// `captured` counts on from an instance's start, so a batch that never arrived leaves a gap between what the ledgers
/// around it say and what the batches brought.
enum Completeness {
    /// Of the instances of `service`, or of all.
    static func share(in window: TimeWindow, service: String?, in db: Database) throws -> Double {
        // Doubles, and total() where sum() would throw: a sender that lies about its numbers must not break a report.
        var (arrived, captured) = (0.0, 0.0)
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT total(l.requests) AS arrived, max(l.captured) - coalesce(
                        (SELECT before.captured FROM ledger before
                         WHERE before.resource_id = l.resource_id AND before.time <= :from
                         ORDER BY before.time DESC LIMIT 1), 0) AS captured
                FROM ledger l JOIN resource ON resource.id = l.resource_id
                WHERE l.time > :from AND l.time <= :to AND (:service IS NULL OR resource.service = :service)
                GROUP BY l.resource_id
                """,
            arguments: ["from": Int64(clamping: window.from), "to": Int64(clamping: window.to), "service": service])
        while let row = try rows.next() {
            let (ofInstance, outOf): (Double, Double) = (row["arrived"], row["captured"])
            // Each instance for itself: one that reports too much must not fill another's gap.
            arrived += min(ofInstance, max(outOf, 0))
            captured += max(outOf, 0)
        }
        return captured > 0 ? arrived / captured : 1
    }
}
