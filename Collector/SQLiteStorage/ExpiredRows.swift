import GRDB

/// The table of how far retention has come. Never goes back, not even with the clock.
enum ExpiredRows {
    static func times(in db: Database) throws -> ExpiredTimes {
        try ExpiredTimes(tenSeconds: time(of: .tenSeconds, in: db), minutes: time(of: .minute, in: db))
    }

    static func advance(to times: ExpiredTimes, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO expired (tier, time) VALUES (?, ?)
                ON CONFLICT DO UPDATE SET time = max(time, excluded.time)
                """)
        try statement.execute(arguments: [Tier.tenSeconds.rawValue, times.tenSeconds])
        try statement.execute(arguments: [Tier.minute.rawValue, times.minutes])
    }

    private static func time(of tier: Tier, in db: Database) throws -> Int64 {
        let statement = try db.cachedStatement(sql: "SELECT time FROM expired WHERE tier = ?")
        return try Int64.fetchOne(statement, arguments: [tier.rawValue]) ?? 0
    }
}
