import GRDB
import MartletTelemetry

/// What the series of one service are, all of them read at once: one by one, as they are met, takes five times as long.
struct ServiceSeries {
    let service: String
    private var dimensions: [Int64: RequestDimensions] = [:]

    init(of service: String, in db: Database) throws {
        self.service = service
        // The index over these columns has them all, in their order.
        let statement = try db.cachedStatement(
            sql: "SELECT id, kind, method, host, port, endpoint, status, error FROM series WHERE service = ?")
        let rows = try Row.fetchCursor(statement, arguments: [service])
        while let row = try rows.next() {
            dimensions[row[0]] = SeriesRows.dimensions(
                kind: row[1], method: row[2], host: row[3], port: row[4], endpoint: row[5], status: row[6],
                error: row[7])
        }
    }

    /// `nil` for a series that has been deleted.
    subscript(series: Int64) -> RequestDimensions? { dimensions[series] }
}
