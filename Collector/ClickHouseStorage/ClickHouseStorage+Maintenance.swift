import MartletStorage
import MartletTelemetry

extension ClickHouseStorage {
    /// Any collector may call this at any time, even while another one does. Running a step again does not change the result.
    package func maintain() async throws {
        if queue.fault != nil {
            // Only an insert shows that the server accepts inserts again. Hour 0 changes nothing.
            try await client.run("INSERT INTO versions_rolled (until) VALUES (0)")
            queue.noteInsert()
        }
        try await countCumulative()
        let clock = try await clock().advance(to: now())
        guard try await client.hasAllReplicas() else { return }
        let (rolled, current) = (try await client.rolledHours().end, clock.time / StoredHour.length)
        if rolled < current { try await earlyHours.makeSome(of: rolled..<current) }
        try await rollUp(before: (clock.time - limits.rawAge) / StoredHour.length)
        let oldest = (clock.time - limits.retention.age(.hour)) / StoredHour.length
        for table in Schema.keptAsHours { try await drop(table, past: oldest, of: 672) }
        for table in [Schema.series, Schema.observedCall] { try await drop(table, past: oldest / 24, of: 28) }
        let oldestCumulative = (clock.time - Int64(clamping: limits.cumulativeAge)) / StoredHour.length
        for table in [Schema.cumulative, Schema.processTotal, Schema.arrival] {
            try await drop(table, past: oldestCumulative, of: 24)
        }
        let oldestDetail = (clock.time - Int64(clamping: limits.detailAge)) / StoredDay.length
        for table in [Schema.detail, Schema.countedSpans] { try await drop(table, past: oldestDetail, of: 1) }
        try await drop(Schema.notification, past: (clock.time - NotifiedState.age) / StoredDay.length, of: 1)
        try await drop(Schema.finding, past: (clock.time - Int64(FindingRecord.age)) / StoredDay.length, of: 1)
        try await drop(Schema.findingsLease, past: clock.time / StoredDay.length - 1, of: 1)
        // The days of spans whose calls are remembered have not been dropped yet.
        try await rememberCalls()
    }

    /// Counts the cumulative figures that have arrived. The first pass after a start also finds figures that another collector
    /// left uncounted when it ended. Later passes look only at the hours since shortly before the last complete pass.
    private func countCumulative() async throws {
        let time = Int64(clamping: now()) - Int64(clamping: limits.cumulativeSettling)
        let hour = UInt32(hourOf: time)
        let since = max(2, min(hour, countedHour.load(ordering: .relaxed))) - 2
        while var pass = try await CumulativePass(since: since, until: time, limits, client) {
            try Task.checkCancellation()
            try await writer.write(try await pass.count())
            if !pass.isMore { break }
        }
        countedHour.store(hour, ordering: .relaxed)
    }

    /// Returns the retention clock. It starts at the latest time at which a sender was seen, so that a jump since then is
    /// noticed.
    private func clock() async throws -> StoreClock {
        if let known = retention.withLock(\.self) { return known }
        let last: Int64 = try await client.number("max(last_seen)", "FROM sender") ?? 0
        return retention.withLock { retention in
            let clock = retention ?? StoreClock(believed: last > 0 ? last : nil, patience: limits.clockPatience)
            retention = clock
            return clock
        }
    }

    /// Drops the parts of a table whose rows are all older than `oldest`, which is in the unit of the table's partition.
    ///
    /// - Parameter length: the length of a part in these units.
    private func drop(_ table: Table, past oldest: Int64, of length: Int64) async throws {
        for part in try await client.parts(of: table) where (part + 1) * length <= oldest {
            try Task.checkCancellation()
            try await client.drop(part, of: table)
        }
    }

    /// Returns the parts of the tables that are rolled up into hours.
    private func partsOfPoints() async throws -> [Int64] {
        var found: Set<Int64> = []
        for table in Schema.rolledUp { found.formUnion(try await client.parts(of: table)) }
        return found.sorted()
    }

    /// Rolls up the weeks of points that end before this hour. From then on they are read as hours, and a later pass drops
    /// their points.
    private func rollUp(before oldest: Int64) async throws {
        let (length, known) = (Schema.hoursOfPart, try await client.rolledHours())
        let (rolled, isSettled) = (known.ofVersions, isKnownEverywhere(known))
        if isSettled { try await dropReplaced(before: rolled) }
        let until = max(known.end, oldest / length * length)
        let parts = try await partsOfPoints().filter { ($0 + 1) * length <= until }
        let hasOlderHours = rolled < known.ofProcesses
        // An older collector may have stored the last of its hours just now.
        guard isSettled || !hasOlderHours else { return }
        guard let first = (parts.map { $0 * length } + (hasOlderHours ? [rolled] : [])).min() else {
            return try await noteRolled(until, after: rolled)
        }
        let hours = first..<until
        try await wholeHours.makeSome(of: hours)
        let open = try await HourRevisions.read(of: hours, .whole, client).filter { !$0.holds }
        for part in parts where (part + 1) * length <= rolled && isSettled {
            // If points arrived after their hour was built, the part is kept until the hour has been rebuilt with them.
            guard !open.contains(where: { Int64($0.hour) / length == part }) else { continue }
            for table in Schema.rolledUp {
                try await client.drop(part, of: table)
            }
        }
        guard open.allSatisfy({ $0.made > 0 || $0.hour < rolled }) else { return }
        try await noteRolled(until, after: rolled)
    }

    /// Drops the four weeks of ``Schema/replacedByHours`` that end before this hour. If readings arrived after their hour was built,
    /// they are kept until the hour has been rebuilt with them.
    private func dropReplaced(before rolled: Int64) async throws {
        for table in Schema.replacedByHours {
            for part in try await client.parts(of: table) where (part + 1) * 672 <= rolled {
                let hours = part * 672..<(part + 1) * 672
                guard try await HourRevisions.read(of: hours, .whole, client).allSatisfy(\.holds) else { continue }
                try await client.drop(part, of: table)
            }
        }
    }

    /// Whether this collector has seen these hours for a while. By then, reports that began with older ones have ended, and lagging
    /// replicas have the new ones and all that was stored before them.
    private func isKnownEverywhere(_ hours: RolledHours) -> Bool {
        seenRolled.withLock { seen in
            let now = ContinuousClock.now
            if seen?.hours != hours { seen = (hours, now) }
            return seen.map { now - $0.since >= .seconds(limits.hourSettling) } ?? false
        }
    }

    private func noteRolled(_ until: Int64, after rolled: Int64) async throws {
        if until > rolled { try await client.run("INSERT INTO versions_rolled (until) VALUES (\(until))") }
    }
}
