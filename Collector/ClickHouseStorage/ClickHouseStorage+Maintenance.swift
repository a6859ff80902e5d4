import MartletStorage
import MartletTelemetry

extension ClickHouseStorage {
    /// Any collector may do it, at any time and at the same time as another: each step has the same result however often it runs.
    package func maintain() async throws {
        if queue.fault != nil {
            // Only an insert tells that the server takes inserts again. Hour 0 changes nothing.
            try await client.run("INSERT INTO rolled (until) VALUES (0)")
            queue.noteInsert()
        }
        try await countCumulative()
        let clock = try await clock().advance(to: now())
        guard try await client.hasAllReplicas() else { return }
        // Points of the oldest parts become hours, then these are read from `hour`, and a later pass drops the points.
        try await dropPoints()
        try await rollUp(before: (clock.time - limits.rawAge) / StoredHour.length)
        let oldest = (clock.time - limits.retention.age(.hour)) / StoredHour.length
        for table in [Schema.hour, Schema.processHour, Schema.ledger, Schema.batch] {
            try await drop(table, past: oldest, of: 672)
        }
        try await drop(Schema.series, past: oldest / 24, of: 28)
        let oldestCumulative = (clock.time - Int64(clamping: limits.cumulativeAge)) / StoredHour.length
        for table in [Schema.cumulative, Schema.processTotal, Schema.arrival] {
            try await drop(table, past: oldestCumulative, of: 24)
        }
        let oldestDetail = (clock.time - Int64(clamping: limits.detailAge)) / StoredDay.length
        try await drop(Schema.detail, past: oldestDetail, of: 1)
    }

    /// Counts the cumulative figures that came in time. What a collector that ended left uncounted is found after the start; later
    /// it is enough to look at the last hours.
    private func countCumulative() async throws {
        let time = Int64(clamping: now()) - Int64(clamping: limits.cumulativeSettling)
        let hour = StoredHour.of(time)
        let since = isCaughtUp.load(ordering: .relaxed) && hour > 2 ? hour - 2 : 0
        while var pass = try await CumulativePass(since: since, until: time, limits, client) {
            try Task.checkCancellation()
            try await writer.write(try await pass.count())
            if !pass.isMore { break }
        }
        isCaughtUp.store(true, ordering: .relaxed)
    }

    /// Returns the clock of retention. It starts with the latest time at which a sender was heard of: a jump since then is noticed.
    private func clock() async throws -> StoreClock {
        if let known = retention.withLock(\.self) { return known }
        let last = try await client.rows("SELECT max(last_seen) FROM sender") { try $0.number(Int64.self) }.first ?? 0
        return retention.withLock { retention in
            let clock = retention ?? StoreClock(believed: last > 0 ? last : nil, patience: limits.clockPatience)
            retention = clock
            return clock
        }
    }

    /// Drops the parts of a table whose rows are all older than a number of its partition's unit.
    ///
    /// - Parameter length: units of a part.
    private func drop(_ table: Table, past oldest: Int64, of length: Int64) async throws {
        for part in try await parts(of: table) where (part + 1) * length <= oldest {
            try Task.checkCancellation()
            try await client.run("ALTER TABLE \(client.layout.everywhere(table)) DROP PARTITION \(part)")
        }
    }

    private func parts(of table: Table) async throws -> [Int64] {
        try await client.rows(
            """
            SELECT DISTINCT toInt64(partition) AS part FROM \(client.layout.parts) WHERE active \
            AND database = '\(client.connection.location.database)' AND table = '\(client.layout.nameOfRows(table))' ORDER BY part
            """
        ) { try $0.number(Int64.self) }
    }

    /// Returns the parts of the tables that become hours.
    private func partsOfPoints() async throws -> [Int64] {
        var found: Set<Int64> = []
        for table in Schema.rolledUp { found.formUnion(try await parts(of: table)) }
        return found.sorted()
    }

    /// Drops the parts of points that are read as hours. Some of their points may have come after the hours were made, so hours are
    /// made once more; those of more points stay.
    private func dropPoints() async throws {
        let rolled = Int64(try await rolledHours())
        for part in try await partsOfPoints() where (part + 1) * Schema.hoursOfPart <= rolled {
            try await rollUp(part)
            for table in Schema.rolledUp {
                try await client.run("ALTER TABLE \(client.layout.everywhere(table)) DROP PARTITION \(part)")
            }
        }
    }

    /// Makes the hours of the parts that end before an hour, from which on these are read as hours.
    private func rollUp(before oldest: Int64) async throws {
        let (length, rolled) = (Schema.hoursOfPart, Int64(try await rolledHours()))
        for part in try await partsOfPoints() where (part + 1) * length <= oldest && part * length >= rolled {
            try await rollUp(part)
        }
        let until = oldest / length * length
        if until > rolled { try await client.run("INSERT INTO rolled (until) VALUES (\(until))") }
    }

    private func rollUp(_ part: Int64) async throws {
        for hour in part * Schema.hoursOfPart..<(part + 1) * Schema.hoursOfPart {
            try Task.checkCancellation()
            try await client.run(Self.rollUp(of: hour))
            try await client.run(Self.rollUpOfProcesses(in: hour))
        }
    }

    private static func rollUpOfProcesses(in hour: Int64) -> String {
        """
        INSERT INTO process_hour (\(Schema.processHour.columnList)) SELECT toUInt32(\(hour)), sender, max(end_ns), \
        toFixedString('', 16), toUInt32(0), toUInt64(0), min(start_ns), sum(points), \(ProcessStatistics.sums) \
        FROM process FINAL WHERE hour = \(hour) AND \(ProcessStatistics.isTold) GROUP BY sender
        """
    }

    private static func rollUp(of hour: Int64) -> String {
        let (from, to) = (hour * StoredHour.length, (hour + 1) * StoredHour.length)
        let columns = Schema.point.columnList
        let rows = PointSource.pointRows(columns, where: "hour = \(hour)", from: from, to: to)
        let dimensions =
            "environment, version, instance, kind, spans, method, host, port, endpoint, status, error, rule, outcome"
        // Old servers leave columns out of a SELECT that only its own condition uses, and then miss them: so the end is used here
        // too.
        return """
            INSERT INTO hour (\(columns)) SELECT toUInt32(\(hour)), service, series, toInt64(\(to)), sender, toFixedString('', 16), \
            toInt64(\(from)), toUInt32(scale + 20), sum(points), \(dimensions), sum(count), sum(total), \
            minIf(low, count > 0), minIf(has_low, count > 0), maxIf(high, count > 0), minIf(has_high, count > 0), sum(zeros), scale, \
            tupleElement(sumMap(indexes, counts), 1), tupleElement(sumMap(indexes, counts), 2), sum(sent), sum(received), \
            sumForEach(phase_counts), sumForEach(phase_seconds) \
            FROM (\(rows.joined(separator: " UNION ALL "))) GROUP BY service, series, sender, scale, \(dimensions) \
            HAVING max(end_ns) > 0
            """
    }
}
