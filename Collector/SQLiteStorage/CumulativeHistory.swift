import GRDB
import MartletTelemetry

/// Until when each process of a sender has told how far it counts, by the start that it counts from.
struct CumulativeHistory {
    private var ends: [UnixNanoseconds: UnixNanoseconds] = [:]
    /// Until when those had told that are not remembered any more; 0 where all are.
    private var forgottenUntil: UnixNanoseconds = 0

    /// Of a sender that is not known.
    init() {}

    init(resource: Int64, in db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT start_time, max(end_time) AS end_time FROM cumulative_series WHERE resource_id = ?
                GROUP BY start_time
                """,
            arguments: [resource])
        for row in rows {
            let (start, end): (Int64, Int64) = (row["start_time"], row["end_time"])
            ends[UInt64(clamping: start)] = UInt64(clamping: end)
        }
        let forgotten = try Int64.fetchOne(
            db, sql: "SELECT forgotten_until FROM resource WHERE id = ?", arguments: [resource])
        forgottenUntil = UInt64(clamping: forgotten ?? 0)
    }

    /// Since when the first point of a stream tells something new; `nil` when it may tell of a time of which nobody wants to
    /// read as if it had been now.
    ///
    /// - Parameter length: what a sender of which nothing is known may count at once.
    func start(ofFirst point: RequestPoint, atMost length: UnixNanoseconds) -> UnixNanoseconds? {
        // A sender that does not know since when it counts begins with a point of no length (specification, "Metrics Data
        // Model", section "Cumulative streams: handling unknown start time").
        guard point.start < point.end else { return nil }
        // The same process was heard of when the series was not there yet: it counted nothing.
        if let last = ends[point.start], last < point.end { return max(last, point.start) }
        // The process began after all that was ever heard of its service.
        let last = max(ends.values.max() ?? 0, forgottenUntil)
        if last > 0, last <= point.start { return point.start }
        // It may be one that counted and was forgotten.
        guard point.start >= forgottenUntil else { return nil }
        return point.start > 0 && point.end - point.start <= length ? point.start : nil
    }
}
