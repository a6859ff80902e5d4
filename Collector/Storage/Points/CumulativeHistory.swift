import GRDB
import MartletTelemetry

/// The latest reports of a sender's processes, which are told apart by the start that they count from.
struct CumulativeHistory {
    /// The ends of each stream's last two reports, by the process's start, in ascending order. The last report is not enough,
    /// because a process may send one collection in several requests.
    private var ends: [UnixNanoseconds: [UnixNanoseconds]] = [:]
    /// The latest end among forgotten processes; 0 if none was forgotten.
    private var forgottenUntil: UnixNanoseconds = 0

    /// Creates an empty history.
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

    /// Returns the start of the interval that a stream's first point covers, or `nil` if its requests may be so old that they
    /// must not count as new.
    ///
    /// - Parameter length: the longest interval that is accepted from an unknown process, in nanoseconds.
    func start(ofFirst point: RequestPoint, atMost length: UnixNanoseconds) -> UnixNanoseconds? {
        // A sender that does not know the start of its count begins with a point of no length (specification, "Metrics Data
        // Model", section "Cumulative streams: handling unknown start time").
        guard point.start < point.end else { return nil }
        // An earlier report of the same process lacks this stream, so the stream had counted nothing by then.
        if let last = ends[point.start]?.last(where: { $0 < point.end }) { return max(last, point.start) }
        // The process began after every report of this sender.
        let last = max(ends.values.compactMap(\.last).max() ?? 0, forgottenUntil)
        if last > 0, last <= point.start { return point.start }
        // A process that began earlier may have been counted and forgotten.
        guard point.start >= forgottenUntil else { return nil }
        return point.start > 0 && point.end - point.start <= length ? point.start : nil
    }
}
