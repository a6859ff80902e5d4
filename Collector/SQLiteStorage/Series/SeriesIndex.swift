import GRDB
import MartletPoints
import MartletStorage
import MartletTelemetry

/// The writer's memory of each series' row. It includes the rows of the current transaction, so it has to be emptied when
/// that is rolled back.
struct SeriesIndex {
    /// Series at most, some 20 MB. Past it the index is emptied, and the rows are read when they are next needed.
    static let maxSeries = 50_000

    private struct Entry {
        var id: Int64
        var day: Int64
    }

    private struct Service {
        var entries: [SharedDimensions: Entry] = [:]
        /// The series with points on ``since`` or later. Only these count against the budget, so that a flood of names gives
        /// up its room a day after it ends.
        var live: Int
        /// The day before the one on which ``live`` was counted.
        var since: Int64
    }

    private let maxSeriesOfService: Int
    private var services: [String: Service] = [:]
    private var count = 0

    init(maxSeriesOfService: Int) {
        self.maxSeriesOfService = maxSeriesOfService
    }

    mutating func removeAll() {
        services = [:]
        count = 0
    }

    /// Returns the row that each point counts to. The first point of a series makes its row.
    ///
    /// - Parameter now: the collector's clock.
    mutating func ids(
        of points: [RequestPoint], service: String, at now: UnixNanoseconds, in db: Database
    ) throws -> [Int64] {
        // Without points the entry would have no series, and no limit would count it.
        guard !points.isEmpty else { return [] }
        if count >= Self.maxSeries { removeAll() }
        let yesterday = SeriesDay.of(Int64(clamping: now)) - 1
        // The entry leaves the dictionary, so that it is changed in its memory and not copied.
        var known = services.removeValue(forKey: service) ?? Service(live: 0, since: .min)
        if known.since != yesterday {
            known.live = try SeriesRows.count(ofService: service, since: yesterday, in: db)
            known.since = yesterday
        }
        let before = known.entries.count
        defer {
            count += known.entries.count - before
            services[service] = known
        }
        // The loop uses indexes: a copy of a point costs more than the look-up.
        return try points.indices.map { index in
            let series = points[index].series
            let day = SeriesDay.of(Int64(clamping: points[index].end))
            if let entry = known.entries[series], entry.day >= day { return entry.id }
            let entry = try findOrMake(series.value, service: service, day: day, in: db, counting: &known)
            known.entries[series] = entry
            return entry.id
        }
    }

    private func findOrMake(
        _ dimensions: RequestDimensions, service: String, day: Int64, in db: Database, counting known: inout Service
    ) throws -> Entry {
        for candidate in SeriesBudget.candidates(for: dimensions, limit: maxSeriesOfService) {
            if let row = try SeriesRows.find(candidate.dimensions, service: service, in: db) {
                let found = Entry(id: row[0], day: row[1])
                guard found.day < day else { return found }
                try SeriesRows.update(found.id, day: day, in: db)
                if found.day < known.since, day >= known.since { known.live += 1 }
                return Entry(id: found.id, day: day)
            }
            guard known.live < candidate.limit else { continue }
            known.live += 1
            let id = try SeriesRows.insert(candidate.dimensions, service: service, day: day, in: db)
            return Entry(id: id, day: day)
        }
        throw DatabaseError(message: "no series is left for a request")
    }
}
