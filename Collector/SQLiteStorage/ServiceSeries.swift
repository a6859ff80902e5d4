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
    /// What tells groups apart, without status and error unless the query asks for them: most series differ in nothing else
    /// from the one before.
    private(set) var names: [RequestDimensions] = []
    /// `nil` for those that the filter leaves out.
    private var entries: [Int64: Entry?] = [:]

    init(of resource: TelemetryResource, _ query: StatisticsQuery, in db: Database) throws {
        service = resource.service
        // The index over these columns has them all, in their order.
        let statement = try db.cachedStatement(
            sql: "SELECT id, kind, method, host, port, endpoint, status, error FROM series WHERE service = ?")
        let rows = try Row.fetchCursor(statement, arguments: [service])
        let (byStatus, byError) = (query.by.contains(.status), query.by.contains(.error))
        while let row = try rows.next() {
            let id: Int64 = row[0]
            guard
                var dimensions = SeriesRows.dimensions(
                    kind: row[1], method: row[2], host: row[3], port: row[4], endpoint: row[5], status: row[6],
                    error: row[7]),
                query.filter.matches(dimensions, from: resource)
            else {
                entries[id] = .some(nil)
                continue
            }
            let requests = RequestClass(dimensions)
            if !byStatus { dimensions.status = nil }
            if !byError { dimensions.error = nil }
            entries[id] = Entry(requests: requests, name: place(of: dimensions))
        }
    }

    /// `nil` for a series that is not the service's.
    subscript(series: Int64) -> Entry?? { entries[series] }

    private mutating func place(of name: RequestDimensions) -> Int {
        if names.isEmpty || names[names.count - 1] != name { names.append(name) }
        return names.count - 1
    }
}
