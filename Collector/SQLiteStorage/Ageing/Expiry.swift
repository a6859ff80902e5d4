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
            Self.deleteChunks(.fine, isRolled: true, until: expired.fine, in: db),
            Self.deleteChunks(.minute, isRolled: true, until: expired.minutes, in: db),
            Self.deleteChunks(.hour, isRolled: false, until: oldest, in: db),
            SummaryRows.delete(until: expired.summaries, in: db),
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

    /// Deletes chunks of a tier, at most ``SQLiteLimits/deletedRows``, and returns the number deleted.
    static func deleteChunks(_ tier: Tier, isRolled: Bool, until end: Int64, in db: Database) throws -> Int {
        try db.delete(
            from: "chunk", where: "tier = ? AND rolled = ? AND end_time <= ?", [tier.rawValue, isRolled, end],
            atMost: SQLiteLimits.deletedRows)
    }

    /// Deletes senders, with their ledgers, that have no points left and have been silent for as long as points are kept: as many
    /// as have ``SQLiteLimits/deletedRows`` readings. Returns `false` if no sender is due.
    ///
    /// No chunk of a sender may remain, because another sender may later get the row's number. A rolled-up chunk ends with
    /// its hour, up to an hour after its points.
    private func deleteResources(in db: Database) throws -> Bool {
        let old = try db.cachedStatement(
            sql: """
                SELECT id FROM resource WHERE last_hour < ?
                    AND NOT EXISTS (SELECT 1 FROM detail WHERE resource_id = resource.id)
                ORDER BY last_hour LIMIT \(SQLiteLimits.deletedRows)
                """)
        let silence = limits.retention.age(.hour) + Tier.hour.length
        let due = try Int64.fetchAll(old, arguments: [before(silence) / Tier.hour.length])
        var room = SQLiteLimits.deletedRows
        for id in due where room > 0 {
            room -= try db.delete(
                from: "ledger", by: "resource_id, time", where: "resource_id = ?", [id], atMost: room)
            guard room > 0 else { return true }
            try db.cachedStatement(sql: "DELETE FROM resource WHERE id = ?").execute(arguments: [id])
            room -= 1
        }
        return !due.isEmpty
    }
}

/// The table of the times that retention has reached. They do not go back when retention becomes longer, because the points are
/// gone.
enum ExpiredRows {
    /// The number of each row, in the column for the tier, and its time. Summaries have -1.
    private static let rows: [(number: Int, time: WritableKeyPath<ExpiredTimes, Int64> & Sendable)] = [
        (Tier.fine.rawValue, \.fine), (Tier.minute.rawValue, \.minutes), (-1, \.summaries),
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
