import GRDB
import MartletStorage
import MartletTelemetry

/// What the series of one service are to a query, all of them read at once: one by one, as they are met, takes five times as
/// long.
struct ServiceSeries {
    struct Entry {
        let requests: RequestClass
        /// A place in ``names``.
        let name: Int
    }

    let service: String
    /// What tells groups apart, of many series each, for most of them differ from the one before in how their requests ended,
    /// which has no place in it unless the query asks for it.
    private(set) var names: [RequestDimensions] = []
    /// `nil` for those that the filter leaves out.
    private var entries: [Int64: Entry?] = [:]

    init(of resource: TelemetryResource, _ query: StatisticsQuery, in db: Database) throws {
        service = resource.service
        // The index over these columns has them all, in their order.
        let statement = try db.cachedStatement(
            sql: "SELECT id, kind, method, host, port, endpoint, status, error FROM series WHERE service = ?")
        let rows = try Row.fetchCursor(statement, arguments: [service])
        while let row = try rows.next() {
            let dimensions = SeriesRows.dimensions(
                kind: row[1], method: row[2], host: row[3], port: row[4], endpoint: row[5], status: row[6],
                error: row[7])
            entries[row[0]] = .some(dimensions.flatMap { entry(of: $0, resource, query) })
        }
    }

    /// `nil` for a series that is not the service's.
    subscript(series: Int64) -> Entry?? { entries[series] }

    private mutating func entry(
        of dimensions: RequestDimensions, _ resource: TelemetryResource, _ query: StatisticsQuery
    ) -> Entry? {
        guard query.filter.matches(dimensions, from: resource) else { return nil }
        var name = dimensions
        if !query.by.contains(.status) { name.status = nil }
        if !query.by.contains(.error) { name.error = nil }
        if names.last != name { names.append(name) }
        return Entry(requests: RequestClass(dimensions), name: names.count - 1)
    }
}
