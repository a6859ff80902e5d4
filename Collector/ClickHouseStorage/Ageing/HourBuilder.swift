import MartletStorage
import MartletTelemetry

/// Builds hours from points. Several collectors may do this at the same time. If two of them build the same hour, the result
/// from more points is kept.
actor HourBuilder {
    /// The time after which a pass starts no further statement, so that other maintenance does not have to wait long.
    private static let pass = Duration.seconds(5)

    private struct Waiting {
        /// The revision of the points. By the time the hour is due, all points of this revision are visible.
        let revision: UInt64
        let due: ContinuousClock.Instant
    }

    private struct Work {
        let hour: UInt32
        let revision: UInt64
        let source: HourSource
        var statements: [String]
    }

    private let kind: HourKind
    private let client: ClickHouseClient
    private let settling: Duration
    private let maxPoints: UInt64
    private var waiting: [UInt32: Waiting] = [:]
    private var work: Work?

    init(_ kind: HourKind, _ client: ClickHouseClient, _ limits: ClickHouseLimits) {
        self.kind = kind
        self.client = client
        settling = .seconds(limits.hourSettling)
        maxPoints = limits.maxHourPoints
    }

    /// Builds some of the hours that are out of date.
    func makeSome(of hours: Range<Int64>) async throws {
        let end = ContinuousClock.now + Self.pass
        let changed = try await HourRevisions.read(of: hours, kind, client).filter { !$0.holds }
        // The hour in progress may have points of a later revision by now, or another collector may have built it.
        if let work, !changed.contains(where: { $0.hour == work.hour && isOpen($0, from: work.revision) }) {
            self.work = nil
        }
        wait(for: changed.filter { $0.hour != work?.hour })
        while ContinuousClock.now < end {
            try Task.checkCancellation()
            if work == nil { work = try await nextWork() }
            guard let next = work else { return }
            // If a statement for an hour fails, the hour waits again, so that it does not hold up other hours or deletion.
            work = nil
            work = try await advance(next)
        }
    }

    /// Whether an hour still has to be built from points of this revision.
    private func isOpen(_ revisions: HourRevisions, from revision: UInt64) -> Bool {
        kind.needsQuiet ? revisions.ofPoints == revision && !revisions.holds : revisions.made < revision
    }

    /// Records when each changed hour is due. Each collector adds a random delay, so that usually only one of them builds an
    /// hour.
    private func wait(for changed: [HourRevisions]) {
        var next: [UInt32: Waiting] = [:]
        for one in changed {
            if let known = waiting[one.hour], isOpen(one, from: known.revision) {
                next[one.hour] = known
            } else {
                let due = ContinuousClock.now + settling + settling / 2 * Double.random(in: 0..<1)
                next[one.hour] = Waiting(revision: one.ofPoints, due: due)
            }
        }
        waiting = next
    }

    /// Returns the next hour that is due, with its statements, unless another collector has built it meanwhile.
    private func nextWork() async throws -> Work? {
        while true {
            let now = ContinuousClock.now
            guard let hour = kind.first(of: waiting.filter { $0.value.due <= now }.keys),
                let known = waiting.removeValue(forKey: hour)
            else { return nil }
            guard let found = try await HourRevisions.read(Int64(hour), kind, client),
                isOpen(found, from: known.revision)
            else { continue }
            let source = try await kind.source(of: Int64(hour), client)
            let statements = try await kind.statements(for: Int64(hour), from: source, maxPoints: maxPoints, client)
            return Work(hour: hour, revision: known.revision, source: source, statements: statements.reversed())
        }
    }

    /// Runs the next statement for an hour. If there is none left, records that the hour has been built. Returns the remaining
    /// work.
    private func advance(_ work: Work) async throws -> Work? {
        var work = work
        guard let statement = work.statements.popLast() else {
            // A collector of an older Martlet may have dropped points before all of them were read.
            guard try await kind.source(of: Int64(work.hour), client) == work.source else { return nil }
            try await client.run(
                "INSERT INTO \(kind.table.name) (hour, revision) VALUES (\(work.hour), \(work.revision))")
            return nil
        }
        try await client.run(statement)
        return work
    }
}

/// Conditions that split the points of an hour into parts. Each statement builds one part, so that it stays within its time
/// limit.
enum HourParts {
    private typealias Services = (last: String, points: UInt64)

    /// Returns a condition for each part; none for an hour without points.
    ///
    /// - Parameters:
    ///   - tables: the tables that are read.
    ///   - maxPoints: the approximate number of rows in one part.
    static func conditions(
        of hour: Int64, in tables: [Table], maxPoints: UInt64, _ client: ClickHouseClient
    ) async throws -> [String] {
        let counts = tables.map {
            "SELECT service, count() AS c FROM \($0.name) WHERE hour = \(hour) GROUP BY service"
        }
        let services = try await client.rows(
            ["service": "service", "points": "sum(c)"],
            "FROM (\(counts.joined(separator: " UNION ALL "))) GROUP BY service ORDER BY service"
        ) { Services(last: try $0.text("service"), points: try $0.number("points")) }
        var parts: [Services] = []
        for one in services {
            if let part = parts.last, part.points + one.points <= maxPoints {
                parts[parts.count - 1] = (one.last, part.points + one.points)
            } else {
                parts.append(one)
            }
        }
        return parts.indices.flatMap { index in
            // The first and the last part have no outer bound, so a service that appears meanwhile belongs to one of them.
            let lower = index > 0 ? "service > \(SQLText.quoted(parts[index - 1].last))" : "1"
            let upper = index + 1 < parts.count ? "service <= \(SQLText.quoted(parts[index].last))" : "1"
            let count = max(1, parts[index].points / maxPoints)
            return (0..<count).map { "\(lower) AND \(upper) AND series % \(count) = \($0)" }
        }
    }
}

/// The statements that build hours. They may run repeatedly and concurrently: of two results, the one from more points is kept.
enum HourStatement {
    /// Returns the statement for the points of an hour.
    ///
    /// - Parameter rows: the SELECT of the columns of `point`.
    static func sql(of hour: Int64, rows: String) -> String {
        let (from, to) = (hour * StoredHour.length, (hour + 1) * StoredHour.length)
        let version = Dimension.ofSender.filter { $0 != .instance }.columns.map(\.name).joined(separator: ", ")
        let dimensions = Selection(Dimension.ofPoint.filter { $0 != .instance }.columns.map(\.name) + ["outcome"])
        let columns =
            ["hour": "toUInt32(\(hour))", "service": "service", "series": "series", "end_ns": "toInt64(\(to))"]
            + ["instance": "''", "sender": "cityHash64(\(version))", "batch": "toFixedString('', 16)"]
            + ["start_ns": "toInt64(\(from))", "ordinal": "toUInt32(scale + 20)", "points": "sum(points)"] + dimensions
            + StatisticsRow.sums
        // Old servers omit columns from a SELECT that only its own condition uses, and then fail because they are missing. So the
        // end is also used here.
        return """
            \(columns.insert(into: Schema.versionHour)) \
            FROM (\(rows)) GROUP BY service, series, scale, \(dimensions.list) HAVING max(end_ns) > 0
            """
    }

    /// Returns the statement for the figures of processes in an hour.
    static func ofProcesses(in hour: Int64) -> String {
        let columns =
            ["hour": "toUInt32(\(hour))", "sender": "sender", "end_ns": "max(end_ns)", "start_ns": "min(start_ns)"]
            + ["batch": "toFixedString('', 16)", "ordinal": "toUInt32(0)", "revision": "toUInt64(0)"]
            + ["points": "sum(points)"] + ProcessStatistics.sums
        return """
            \(columns.insert(into: Schema.processHour)) \
            FROM process FINAL WHERE hour = \(hour) AND \(ProcessStatistics.hasFigures) GROUP BY sender
            """
    }
}
