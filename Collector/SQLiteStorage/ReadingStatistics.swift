import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func statistics(_ query: StatisticsQuery) async throws -> StatisticsAnswer {
        try await pool.read { db in
            var folding = Folding(query: query)
            try folding.run(in: db)
            return StatisticsAnswer(
                groups: folding.groups,
                completeness: try Completeness.share(in: query.window, service: query.filter.service, in: db),
                damagedPoints: folding.damagedPoints)
        }
    }
}

/// Goes through the points of a window once and adds each to its group. Holds the groups and one entry for each series
/// that the window has, never the points.
private struct Folding {
    let query: StatisticsQuery
    private(set) var groups: [RequestGroup: RequestStatistics] = [:]
    private(set) var damagedPoints = 0
    /// `nil` for series that the filter leaves out.
    private var placeOfSeries: [Int64: Place?] = [:]
    /// Read when the first series of spans is met.
    private var cover: MetricsCover?

    private struct Place {
        var group: RequestGroup
        /// Points that end in this time are left out.
        var covered: ClosedRange<UnixNanoseconds>?
    }

    init(query: StatisticsQuery) {
        self.query = query
    }

    mutating func run(in db: Database) throws {
        let points = try Row.fetchCursor(
            db,
            sql: """
                SELECT series_id, end_time, count, bytes_sent, bytes_received, sketch, phases FROM point
                WHERE end_time > ? AND end_time <= ?
                """,
            arguments: [Int64(clamping: query.window.from), Int64(clamping: query.window.to)])
        while let row = try points.next() {
            guard let place = try place(ofSeries: row["series_id"], in: db) else { continue }
            if let covered = place.covered, covered.contains(UInt64(clamping: row["end_time"] as Int64)) { continue }
            if let statistics = PointRows.decode(row) {
                groups[place.group, default: RequestStatistics()].merge(statistics)
            } else {
                damagedPoints += 1
            }
        }
    }

    private mutating func place(ofSeries id: Int64, in db: Database) throws -> Place? {
        if let known = placeOfSeries[id] { return known }
        let place = try readPlace(ofSeries: id, in: db)
        placeOfSeries[id] = .some(place)
        return place
    }

    private mutating func readPlace(ofSeries id: Int64, in db: Database) throws -> Place? {
        let series = try db.cachedStatement(sql: "SELECT * FROM series WHERE id = ?")
        let owner = try db.cachedStatement(sql: "SELECT * FROM resource WHERE id = ?")
        guard let row = try Row.fetchOne(series, arguments: [id]), let dimensions = SeriesRows.decode(row),
            let resource = try Row.fetchOne(owner, arguments: [row["resource_id"] as Int64]).map(ResourceRows.decode),
            query.filter.matches(dimensions, from: resource)
        else { return nil }
        let group = RequestGroup(
            values: query.by.map { $0.value(of: dimensions, from: resource) }, kind: dimensions.kind,
            outcome: dimensions.outcome, source: dimensions.source)
        guard dimensions.source == .spans else { return Place(group: group) }
        let cover = try cover ?? MetricsCover(in: db)
        self.cover = cover
        return Place(group: group, covered: cover.range(of: dimensions.kind, from: resource))
    }
}
