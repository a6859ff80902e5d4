import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func statistics(_ query: StatisticsQuery) async throws -> StatisticsAnswer {
        try await health.watching {
            try await pool.read { [limits] db in
                var sums = GroupSums(query, maxGroups: limits.maxGroups)
                let counted = WindowRanges(query.window, expired: try ExpiredRows.times(in: db))
                for range in counted.ranges { try sums.add(range, in: db) }
                return StatisticsAnswer(
                    window: counted.window, groups: sums.groups,
                    account: try Completeness.account(in: counted.window, service: query.filter.service, in: db),
                    damagedPoints: sums.damagedPoints)
            }
        }
    }
}
