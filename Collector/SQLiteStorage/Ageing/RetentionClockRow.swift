import GRDB

/// The row of the time that retention went by, so that a jump of the clock is noticed across a restart.
enum RetentionClockRow {
    /// Returns `nil` for a store that was never maintained.
    static func time(in db: Database) throws -> Int64? {
        try Int64.fetchOne(db, sql: "SELECT time FROM retention_clock")
    }

    static func save(_ time: Int64, in db: Database) throws {
        try db.execute(sql: "INSERT OR REPLACE INTO retention_clock (id, time) VALUES (1, ?)", arguments: [time])
    }
}
