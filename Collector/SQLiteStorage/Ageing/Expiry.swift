import GRDB
import MartletStorage
import MartletTelemetry

/// One step of deleting rows past the limits. A step is short, so that batches do not wait long to be stored.
struct Expiry {
    let limits: SQLiteLimits
    /// The time that retention uses: see ``RetentionClock``.
    let now: Int64
    /// Whether the collector's clock is believed.
    var isClockBelieved = true
    /// The time up to which everything of processes is in the hours of their versions.
    var foldedUntil: Int64 = 0

    struct Outcome {
        /// Whether another step is needed. The number of steps is finite.
        var isThereMore: Bool
        var deletedSeries: Bool
        /// The number of details deleted before they expired.
        var earlyDetails: Int
    }

    /// Deletes rows and returns whether more are left. Readers stop counting expired chunks before the first one is deleted, so
    /// no window counts only some of them.
    func step(in db: Database) throws -> Outcome {
        let expired = try ExpiredRows.advance(
            to: ExpiredTimes(limits.retention, at: now),
            atMost: isClockBelieved ? ExpiredTimes(latestAt: now) : .never, in: db)
        let oldest = before(limits.retention.age(.hour))
        // Series without points.
        let series = try db.delete(
            from: "series", where: "day < ?", [Int64(dayOf: oldest)], atMost: SQLiteLimits.deletedRows)
        let details = try DetailPruning.prune(atMost: SQLiteLimits.deletedRows, at: now, limits, in: db)
        let deleted = try [
            series, details.count, restampDetails(in: db),
            Self.deleteChunks(of: .fine, until: expired.fine, in: db),
            Self.deleteChunks(of: .minute, until: expired.minutes, in: db),
            // Hours go with their day.
            Self.deleteHours(until: Tier.day.slotEnd(notAfter: oldest), in: db),
            ProcessRows.delete(.fine, until: expired.fine, in: db),
            ProcessRows.delete(.minute, until: expired.minutes, in: db),
            ProcessRows.delete(.hour, until: oldest, in: db),
            db.delete(from: "observed_call", where: "last_time <= ?", [oldest], atMost: SQLiteLimits.deletedRows),
            db.delete(from: "process_end", where: "time <= ?", [oldest], atMost: SQLiteLimits.deletedRows),
            UncountedRows.delete(until: oldest, in: db),
            NotificationRows.delete(until: before(NotifiedState.age), in: db),
            FindingRows.delete(until: before(Int64(FindingRecord.age)), in: db),
        ]
        // Senders come last, because a sender with data left stays.
        let isThereMore = try deleted.contains(SQLiteLimits.deletedRows) || deleteResources(in: db)
        return Outcome(isThereMore: isThereMore, deletedSeries: series > 0, earlyDetails: details.early)
    }

    private func restampDetails(in db: Database) throws -> Int {
        let latest = now.addingReportingOverflow(Int64(clamping: limits.clockPatience))
        guard isClockBelieved, !latest.overflow else { return 0 }
        return try DetailPruning.restamp(
            atMost: SQLiteLimits.deletedRows, receivedAfter: latest.partialValue, at: now, in: db)
    }

    private func before(_ age: Int64) -> Int64 { max(0, now - age) }

    /// The chunks that go with a resolution, by their table, tier and state. Points of an hour and more stay for as long as minutes,
    /// because no minute has them.
    static let chunks: [Tier: [(ChunkTable, Tier, ChunkState)]] = [
        .fine: [(.senders, .fine, .rolled), (.senders, .fine, .inVersion), (.senders, .minute, .inVersion)],
        .minute: [(.senders, .minute, .rolled), (.versions, .minute, .rolled), (.senders, .hour, .inVersion)],
        .hour: [(.senders, .hour, .open), (.versions, .hour, .open), (.versions, .hour, .rolled)],
        .day: [(.versions, .day, .open)],
    ]

    /// Deletes the rolled-up chunks of a resolution, at most ``SQLiteLimits/deletedRows`` of each kind. Returns the largest number
    /// deleted of one kind.
    static func deleteChunks(of resolution: Tier, until end: Int64, in db: Database) throws -> Int {
        try (chunks[resolution] ?? []).reduce(0) { most, kind in
            let (table, tier, state) = kind
            let deleted = try db.delete(
                from: table.rawValue, where: "tier = ? AND rolled = ? AND end_time <= ? ORDER BY end_time",
                [tier.rawValue, state.rawValue, end], atMost: SQLiteLimits.deletedRows)
            return max(most, deleted)
        }
    }

    /// Deletes what is kept for as long as hours, in the same way. `end` is the end of a day.
    static func deleteHours(until end: Int64, in db: Database) throws -> Int {
        var rows = try max(deleteChunks(of: .hour, until: end, in: db), FoldedRows.delete(until: end, in: db))
        // The day goes last: without it, a window that contains the day would not count the hours that are left.
        if rows < SQLiteLimits.deletedRows { rows = try max(rows, deleteChunks(of: .day, until: end, in: db)) }
        // Another version may later get the number of one that is deleted.
        return try rows < SQLiteLimits.deletedRows ? max(rows, VersionRows.delete(until: end, in: db)) : rows
    }

    /// Deletes senders whose readings and figures are folded, as many as one step deletes. Returns `false` if no sender is due.
    ///
    /// No chunk of a sender may remain, because another sender may later get the row's number. A rolled-up chunk ends with
    /// its hour, up to an hour after its points.
    private func deleteResources(in db: Database) throws -> Bool {
        try Departing.step(before: min(before(limits.retention.processes), foldedUntil), at: now, in: db)
    }
}

/// The table of the times that retention has reached. They do not go back when retention becomes longer, because the points are
/// gone.
enum ExpiredRows {
    /// The number of each row, in the column for the tier, and its time.
    private static let rows: [(number: Int, time: WritableKeyPath<ExpiredTimes, Int64> & Sendable)] = [
        (Tier.fine.rawValue, \.fine), (Tier.minute.rawValue, \.minutes),
    ]

    static func times(in db: Database) throws -> ExpiredTimes {
        let statement = try db.cachedStatement(sql: "SELECT time FROM expired WHERE tier = ?")
        return try rows.reduce(into: ExpiredTimes(fine: 0, minutes: 0)) { times, row in
            times[keyPath: row.time] = try Int64.fetchOne(statement, arguments: [row.number]) ?? 0
        }
    }

    /// Advances to the times and returns the times that apply from now on.
    ///
    /// - Parameter latest: the upper limit. Times in the future that a fast clock has left are set back to it.
    static func advance(
        to times: ExpiredTimes, atMost latest: ExpiredTimes = .never, in db: Database
    ) throws -> ExpiredTimes {
        let known = try self.times(in: db)
        var later = known
        for (_, time) in rows {
            later[keyPath: time] = min(max(known[keyPath: time], times[keyPath: time]), latest[keyPath: time])
        }
        guard later != known else { return known }
        let statement = try db.cachedStatement(sql: "INSERT OR REPLACE INTO expired (tier, time) VALUES (?, ?)")
        for (number, time) in rows { try statement.execute(arguments: [number, later[keyPath: time]]) }
        return later
    }
}

/// The row with the time that retention last used. It reveals a jump of the clock across a restart.
enum RetentionClockRow {
    /// Returns `nil` for a store that was never maintained.
    static func time(in db: Database) throws -> Int64? {
        try Int64.fetchOne(db, sql: "SELECT time FROM retention_clock")
    }

    static func save(_ time: Int64, in db: Database) throws {
        try db.execute(sql: "INSERT OR REPLACE INTO retention_clock (id, time) VALUES (1, ?)", arguments: [time])
    }
}
