import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func statistics(
        _ queries: [StatisticsQuery]
    ) async throws -> [Result<StatisticsAnswer, TooManyGroups>] {
        try await health.watching {
            try await pool.read { [limits, knownSeries] db in
                var reading = StatisticsReading(queries, try ExpiredRows.times(in: db), limits, knownSeries)
                return try reading.answers(in: db)
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
