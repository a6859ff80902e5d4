import GRDB
import MartletTelemetry

/// Until when each process of a sender has told how far it counts, by the start that it counts from.
struct CumulativeHistory {
    /// In ascending order: the ends of each stream's last two requests. One does not do, as what a process collects at once
    /// may come in several.
    private var ends: [UnixNanoseconds: [UnixNanoseconds]] = [:]
    /// Until when those had told that are not remembered any more; 0 where all are.
    private var forgottenUntil: UnixNanoseconds = 0

    /// Of a sender that is not known.
    init() {}

    init(resource: Int64, in db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT DISTINCT start_time, end_time, before_time FROM cumulative_series WHERE resource_id = ?
                """,
            arguments: [resource])
        for row in rows {
            let (start, end, before): (Int64, Int64, Int64) = (row["start_time"], row["end_time"], row["before_time"])
            let known = [before, end].filter { $0 > 0 }.map { UInt64(clamping: $0) }
            ends[UInt64(clamping: start), default: []] += known
        }
        for start in ends.keys { ends[start]?.sort() }
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
        if let last = ends[point.start]?.last(where: { $0 < point.end }) { return max(last, point.start) }
        // The process began after all that was ever heard of its service.
        let last = max(ends.values.compactMap(\.last).max() ?? 0, forgottenUntil)
        if last > 0, last <= point.start { return point.start }
        // It may be one that counted and was forgotten.
        guard point.start >= forgottenUntil else { return nil }
        return point.start > 0 && point.end - point.start <= length ? point.start : nil
    }
}
