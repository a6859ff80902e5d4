import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func statistics(
        _ queries: [StatisticsQuery]
    ) async throws -> [Result<StatisticsAnswer, TooManyGroups>] {
        try await health.watching {
            try await pool.read { [limits, knownSeries] db in
                let expired = try ExpiredRows.times(in: db)
                var sums = queries.map {
                    GroupSums($0, isInSlots: $0.limit == nil, expired, limits, knownSeries)
                }
                let passes = try ChunkPass.add(to: &sums, isKeeping: queries.contains(where: \.needsSecondPass), in: db)
                var accounts = WindowAccounts()
                var answers = try zip(queries, sums).map { try $1.answer(to: $0, &accounts, in: db) }
                var limited = LimitedGroups(queries, sums, &answers, expired, limits)
                sums = []
                try limited.complete(&answers, passes, in: db)
                return answers
            }
        }
    }

    package func account(in window: TimeWindow, _ filter: RequestFilter) async throws -> WindowAccount {
        try await health.watching {
            try await pool.read { db in
                let counted = WindowRanges(window, expired: try ExpiredRows.times(in: db))
                return try Completeness.account(in: counted.window, filter, in: db)
            }
        }
    }
}

extension StatisticsQuery {
    /// Whether the points of the groups that the limit leaves may be read once more.
    fileprivate var needsSecondPass: Bool { limit != nil && (hasDistributions || step != nil) }
}

extension GroupSums {
    /// Returns the answer to the query that the sums were made for.
    fileprivate func answer(
        to query: StatisticsQuery, _ accounts: inout WindowAccounts, in db: Database
    ) throws -> Result<StatisticsAnswer, TooManyGroups> {
        if let failure { return .failure(failure) }
        let account = try accounts.account(in: window, query.filter, in: db)
        guard let grid else {
            return .success(
                StatisticsAnswer(query, window: window, sums: sums, account: account, damagedPoints: damagedPoints))
        }
        return .success(
            StatisticsAnswer(
                query, groups: wholes, slots: slots, in: grid, account: account, damagedPoints: damagedPoints))
    }
}
