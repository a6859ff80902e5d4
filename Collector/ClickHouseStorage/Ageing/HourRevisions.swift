import MartletStorage
import MartletTelemetry
import Synchronization

/// The current revision of an hour's points, and the revision of the points that the hour was built from. 0 if there is none.
///
/// Each insert of points first raises the revision of their hours (``ChangedHours``). A built hour is valid as long as the
/// revision of its points has not changed since they were read.
struct HourRevisions {
    let hour: UInt32
    let ofPoints: UInt64
    let made: UInt64

    var holds: Bool { made == ofPoints }

    /// Returns the revisions of the hours with points of this kind.
    static func read(
        of hours: Range<Int64>, _ kind: HourKind, _ client: ClickHouseClient
    ) async throws -> [HourRevisions] {
        let condition = "hour >= \(hours.lowerBound) AND hour < \(hours.upperBound)"
        return try await client.rows(
            ["hour": "hour", "points": "sum(r) AS points_revision", "made": "sum(s)"],
            """
            FROM (\
            SELECT hour, sum(revision) AS r, toUInt64(0) AS s FROM changed_hour FINAL \
            WHERE \(condition) AND \(kind.changes) GROUP BY hour UNION ALL \
            SELECT hour, toUInt64(0) AS r, max(revision) AS s FROM \(kind.table.name) WHERE \(condition) GROUP BY hour) \
            GROUP BY hour HAVING points_revision > 0 ORDER BY hour
            """
        ) { HourRevisions(hour: try $0.number("hour"), ofPoints: try $0.number("points"), made: try $0.number("made")) }
    }

    /// Returns the revisions of an hour; `nil` if it has no points of this kind.
    static func read(_ hour: Int64, _ kind: HourKind, _ client: ClickHouseClient) async throws -> HourRevisions? {
        try await read(of: hour..<hour + 1, kind, client).first
    }
}

/// Hours built from points of metrics and readings of ledgers soon after the hour ends. Reports read them instead of the points,
/// of which there are hundreds of times as many. A late point makes its hour invalid, so it counts at once, and the hour is rebuilt.
enum EarlyHours {
    /// Returns the valid hours that lie completely within a window.
    static func holding(in window: TimeWindow, _ client: ClickHouseClient) async throws -> [UInt32] {
        let length = StoredHour.length
        let first = (max(0, Int64(clamping: window.from) - 1) + length) / length
        let end = Int64(clamping: window.to) / length
        guard first < end else { return [] }
        return try await HourRevisions.read(of: first..<end, .early, client).filter(\.holds).map(\.hour)
    }
}

/// The hours that an insert changes.
struct HourChanges {
    /// The hours of points of metrics and of readings of ledgers. Early hours are built from these.
    private(set) var metrics: Set<UInt32> = []
    /// The hours in which other points and figures of processes end.
    private(set) var others: Set<UInt32> = []

    mutating func note(_ points: some Sequence<RequestPoint>) {
        for point in points {
            let hour = UInt32(hourOf: Int64(clamping: point.end))
            if point.series.source == .metrics { metrics.insert(hour) } else { others.insert(hour) }
        }
    }

    mutating func note(reading time: UnixNanoseconds) { metrics.insert(UInt32(hourOf: Int64(clamping: time))) }

    mutating func note(endOfOther end: UnixNanoseconds) { others.insert(UInt32(hourOf: Int64(clamping: end))) }
}

/// Records the hours of points, figures of processes and readings of ledgers, before these are stored. This shows ``HourBuilder`` which
/// hours have changed since they were built.
final class ChangedHours: Sendable {
    /// The longest time from ``rows(of:)`` until the points are stored. No collector builds these hours within it: see
    /// ``ClickHouseLimits/hourSettling``. If storing takes longer, the hours are recorded again.
    static let patience = Duration.seconds(60)

    /// A random number that distinguishes this process from other processes that write.
    private let writer = UInt64.random(in: 1 ... .max)
    private let revision = Atomic<UInt64>(0)

    /// Returns the rows to store before the points and figures.
    func rows(of changes: HourChanges) -> TableRows {
        let revision = revision.wrappingAdd(1, ordering: .relaxed).newValue
        var rows = TableRows(Schema.changedHour)
        for hour in changes.metrics.union(changes.others) {
            rows.append { row in
                row.number(hour)
                row.flag(changes.metrics.contains(hour))
                row.number(writer)
                row.number(revision)
            }
        }
        return rows
    }
}
