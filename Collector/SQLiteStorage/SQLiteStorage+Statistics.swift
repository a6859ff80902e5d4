import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func statistics(_ query: StatisticsQuery) async throws -> StatisticsAnswer {
        try await health.watching {
            try await pool.read { [limits] db in
                let expired = try ExpiredRows.times(in: db)
                var sums = GroupSums(by: query.grouping, query.filter, maxGroups: limits.maxGroups)
                let counted = WindowRanges(query.window, expired: expired)
                for range in counted.ranges { try sums.add(range, in: db) }
                var answer = StatisticsAnswer(
                    query, window: counted.window, sums: sums.sums,
                    account: try Completeness.account(in: counted.window, query.filter, in: db),
                    damagedPoints: sums.damagedPoints)
                if let step = query.step {
                    let grid = SlotGrid(counted.window, step: step, endingAt: query.slotEnd, expired: expired)
                    guard
                        answer.groups.count.multipliedReportingOverflow(by: grid.count).partialValue <= limits.maxGroups
                    else { throw TooManyGroups(limit: limits.maxGroups) }
                    answer.slots = try Self.slots(of: answer.groups, query, in: grid, expired, db)
                }
                return answer
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

    /// Goes through the points once more, because the answer's groups are known only after the first time.
    private static func slots(
        of groups: [RequestGroup], _ query: StatisticsQuery, in grid: SlotGrid, _ expired: ExpiredTimes, _ db: Database
    ) throws -> GroupSlots {
        var sums = GroupSums(by: query.by, query.filter, of: groups, in: grid)
        let ranges = WindowRanges(grid.window, expired: expired, step: grid.granularity).ranges
        for range in ranges { try sums.add(range, in: db) }
        let slots = groups.indices.map { Array(sums.sums[$0 * grid.count..<($0 + 1) * grid.count]) }
        return GroupSlots(grid: grid, groups: slots)
    }
}
