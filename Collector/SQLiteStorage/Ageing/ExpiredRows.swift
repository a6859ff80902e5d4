import GRDB
import MartletStorage

/// The table of the times that retention has reached. They do not go back when retention is made longer, because the points
/// are gone.
enum ExpiredRows {
    /// The number of a tier that stands for summaries.
    private static let summaries = -1

    static func times(in db: Database) throws -> ExpiredTimes {
        try ExpiredTimes(
            fine: time(of: Tier.fine.rawValue, in: db), minutes: time(of: Tier.minute.rawValue, in: db),
            summaries: time(of: summaries, in: db))
    }

    /// Advances to the times and returns those that hold from now on.
    ///
    /// - Parameter latest: times in the future, which retention reached by a clock that was ahead, go back to these.
    static func advance(
        to times: ExpiredTimes, atMost latest: ExpiredTimes = .never, in db: Database
    ) throws -> ExpiredTimes {
        let known = try self.times(in: db)
        let later = ExpiredTimes(
            fine: min(max(known.fine, times.fine), latest.fine),
            minutes: min(max(known.minutes, times.minutes), latest.minutes),
            summaries: min(max(known.summaries, times.summaries), latest.summaries))
        guard later != known else { return known }
        let statement = try db.cachedStatement(sql: "INSERT OR REPLACE INTO expired (tier, time) VALUES (?, ?)")
        try statement.execute(arguments: [Tier.fine.rawValue, later.fine])
        try statement.execute(arguments: [Tier.minute.rawValue, later.minutes])
        try statement.execute(arguments: [summaries, later.summaries])
        return later
    }

    private static func time(of tier: Int, in db: Database) throws -> Int64 {
        let statement = try db.cachedStatement(sql: "SELECT time FROM expired WHERE tier = ?")
        return try Int64.fetchOne(statement, arguments: [tier]) ?? 0
    }
}
