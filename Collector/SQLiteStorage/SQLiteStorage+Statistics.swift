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
                try ChunkPass.add(to: &sums, in: db)
                var answers = try zip(queries, sums).map { try $1.answer(to: $0, in: db) }
                sums = []
                // The groups that a limit leaves are known only now, so their points are read once more for the slots.
                for (index, query) in queries.enumerated() where query.limit != nil && query.step != nil {
                    guard case .success(let answer) = answers[index] else { continue }
                    answers[index] = try query.withSlots(answer, expired, limits, knownSeries, in: db)
                }
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
    /// Returns an answer with the slots of its groups.
    fileprivate func withSlots(
        _ answer: StatisticsAnswer, _ expired: ExpiredTimes, _ limits: SQLiteLimits, _ series: SeriesMemory,
        in db: Database
    ) throws -> Result<StatisticsAnswer, TooManyGroups> {
        var (answer, query) = (answer, self)
        query.groups = answer.groups.map(\.values)
        var sums = [GroupSums(query, isInSlots: true, expired, limits, series)]
        try ChunkPass.add(to: &sums, in: db)
        if let failure = sums[0].failure { return .failure(failure) }
        answer.slots = sums[0].grid.map { GroupSlots(answer.groups, of: sums[0].slots, in: $0) }
        return .success(answer)
    }
}

extension GroupSums {
    /// Returns the answer to the query that the sums were made for.
    fileprivate func answer(
        to query: StatisticsQuery, in db: Database
    ) throws -> Result<StatisticsAnswer, TooManyGroups> {
        if let failure { return .failure(failure) }
        let account = try Completeness.account(in: window, query.filter, in: db)
        guard let grid else {
            return .success(
                StatisticsAnswer(query, window: window, sums: sums, account: account, damagedPoints: damagedPoints))
        }
        return .success(
            StatisticsAnswer(query, slots: slots, in: grid, account: account, damagedPoints: damagedPoints))
    }
}
