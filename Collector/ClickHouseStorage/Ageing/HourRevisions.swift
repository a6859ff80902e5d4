import MartletStorage
import MartletTelemetry
import Synchronization

/// The revisions of an hour: the revision of its points, and the one with which it was made; 0 without one.
///
/// Each insert of points first raises the revision of their hours (``ChangedHours``). A made hour is valid as long as its points
/// still have the revision with which they were read.
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

/// The hours made from points of metrics soon after they ended. A report reads them instead of the points, which are hundreds of
/// times as many. Late points count at once, and the hour is made again.
enum EarlyHours {
    /// Returns the valid hours that lie wholly in a window.
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
    /// The hours with the ends of points of metrics. Early hours are made from these points.
    private(set) var metrics: Set<UInt32> = []
    /// The hours with the ends of other points and of figures of processes.
    private(set) var others: Set<UInt32> = []

    mutating func note(_ points: some Sequence<RequestPoint>) {
        for point in points {
            let hour = UInt32(hourOf: Int64(clamping: point.end))
            if point.series.source == .metrics { metrics.insert(hour) } else { others.insert(hour) }
        }
    }

    mutating func note(endOfOther end: UnixNanoseconds) { others.insert(UInt32(hourOf: Int64(clamping: end))) }
}

/// Records the hours in which points and figures of processes end, before these are stored. So ``HourBuilder`` knows which hours
/// have changed since they were made.
final class ChangedHours: Sendable {
    /// The time from ``rows(of:)`` until the points are stored within which no collector makes these hours: see
    /// ``ClickHouseLimits/hourSettling``. After this time the hours are recorded again.
    static let patience = Duration.seconds(60)

    /// The number of this process among the processes that write.
    private let writer = UInt64.random(in: 1 ... .max)
    private let revision = Atomic<UInt64>(0)

    /// Returns the rows to store before the changes.
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

/// The kinds of hours made from points.
enum HourKind {
    /// Points of metrics, soon after the hour: see ``EarlyHours``.
    case early
    /// All points and figures of processes, before these are deleted.
    case whole

    /// The table that lists the hours that have been made.
    var table: Table {
        switch self {
        case .early: Schema.madeHour
        case .whole: Schema.wholeHour
        }
    }

    /// The condition on the rows of `changed_hour` about its points.
    var changes: String { self == .early ? "metrics = 1" : "1" }

    /// Whether an hour is made only after nothing has arrived for a while. A whole hour is made in any case, because a week is read
    /// as hours only once all of its hours have been made.
    var needsQuiet: Bool { self == .early }

    /// Returns the hour to make first. Among early hours it is the latest, which most reports use. Among whole hours it is a random
    /// one, so that collectors usually make different ones.
    func first(of hours: some Collection<UInt32>) -> UInt32? { self == .early ? hours.max() : hours.randomElement() }

    /// Returns the statements that make an hour.
    ///
    /// - Parameter maxPoints: the approximate number of points in one statement.
    func statements(for hour: Int64, maxPoints: UInt64, _ client: ClickHouseClient) async throws -> [String] {
        let columns = Schema.point.columnList
        switch self {
        case .early:
            return try await HourParts.conditions(of: hour, maxPoints: maxPoints, client).map { part in
                let rows = "SELECT \(columns) FROM point FINAL WHERE spans = 0 AND hour = \(hour) AND \(part)"
                return HourStatement.sql(of: hour, rows: rows)
            }
        case .whole:
            let processes = HourStatement.ofProcesses(in: hour)
            if try await Self.isWholeEarly(hour, client) { return [processes] }
            let (from, to) = (hour * StoredHour.length, (hour + 1) * StoredHour.length)
            let services = try await PointSource.servicesWithSpans(where: "hour = \(hour)", client)
            return try await HourParts.conditions(of: hour, maxPoints: maxPoints, client).map { part in
                let rows = PointSource.pointRows(
                    columns, where: "hour = \(hour) AND \(part)", spansOf: services, from: from, to: to)
                return HourStatement.sql(of: hour, rows: rows.joined(separator: " UNION ALL "))
            } + [processes]
        }
    }

    /// Whether an early hour contains all points.
    private static func isWholeEarly(_ hour: Int64, _ client: ClickHouseClient) async throws -> Bool {
        guard try await HourRevisions.read(hour, .early, client)?.holds == true else { return false }
        let others: [UInt64] = try await client.numbers(
            "sum(c)",
            """
            FROM (SELECT count() AS c FROM point WHERE spans = 1 AND hour = \(hour) \
            UNION ALL SELECT count() AS c FROM difference WHERE hour = \(hour))
            """)
        return others == [0]
    }
}
