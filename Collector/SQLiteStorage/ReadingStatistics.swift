import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func statistics(_ query: StatisticsQuery) async throws -> StatisticsAnswer {
        try await health.watching {
            try await pool.read { db in
                var folding = PointFolding(query)
                for range in WindowRanges(query.window, expired: try ExpiredRows.times(in: db)).ranges {
                    try folding.add(range, in: db)
                }
                let completeness = try Completeness.share(in: query.window, service: query.filter.service, in: db)
                return StatisticsAnswer(
                    groups: folding.groups, completeness: completeness, damagedPoints: folding.damagedPoints)
            }
        }
    }
}
