import GRDB
import MartletStorage
import MartletTelemetry

/// The series of one service, as a query sees them. All are read at once: reading each as it is met takes five times as long.
struct ServiceSeries {
    struct Entry {
        let requests: RequestClass
        /// The index of its name in ``names``.
        let name: Int
    }

    let service: String
    /// The dimensions that tell groups apart, without status and error unless the query asks for them. Most series then have
    /// the same name as the one before.
    private(set) var names: [RequestDimensions] = []
    /// The entry of each series; `nil` for a series that the filter leaves out.
    private var entries: [Int64: Entry?] = [:]

    init(of service: String, by dimensions: [Dimension], _ filter: RequestFilter, in db: Database) throws {
        self.service = service
        // The index over these columns has them all, in their order.
        let statement = try db.cachedStatement(
            sql: "SELECT id, kind, method, host, port, endpoint, status, error FROM series WHERE service = ?")
        let rows = try Row.fetchCursor(statement, arguments: [service])
        let (byStatus, byError) = (dimensions.contains(.status), dimensions.contains(.error))
        while let row = try rows.next() {
            let id: Int64 = row[0]
            guard
                var dimensions = SeriesRows.dimensions(
                    kind: row[1], method: row[2], host: row[3], port: row[4], endpoint: row[5], status: row[6],
                    error: row[7]),
                filter.matches(dimensions)
            else {
                entries[id] = .some(nil)
                continue
            }
            let requests = RequestClass(dimensions)
            if !byStatus { dimensions.status = nil }
            if !byError { dimensions.error = nil }
            entries[id] = Entry(requests: requests, name: nameIndex(of: dimensions))
        }
    }

    /// `nil` for a series that is not the service's, and `.some(nil)` for one that is left out.
    subscript(series: Int64) -> Entry?? { entries[series] }

    private mutating func nameIndex(of name: RequestDimensions) -> Int {
        if names.isEmpty || names[names.count - 1] != name { names.append(name) }
        return names.count - 1
    }
}
