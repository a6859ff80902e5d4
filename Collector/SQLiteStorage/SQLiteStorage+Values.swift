import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func values(_ query: ValuesQuery) async throws -> ValuesAnswer {
        try await health.watching {
            try await pool.read { db in
                let senders = try ValueSenders(query, in: db)
                let values = try query.dimension.isOfSender ? senders.values : senders.requestValues(in: db)
                let sorted = values.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                return ValuesAnswer(
                    values: Array(sorted.prefix(query.limit)), isThereMore: sorted.count > query.limit)
            }
        }
    }
}

/// The values of a dimension among the senders of a query: those that were heard of since the window's start. A sender that was
/// first heard of after the window may have requests in it, which it had kept while the collector was away.
private struct ValueSenders {
    private let query: ValuesQuery
    private let resources: [TelemetryResource]

    init(_ query: ValuesQuery, in db: Database) throws {
        self.query = query
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT * FROM resource WHERE \(query.filter.senderCondition)
                    AND last_seen > \(Int64(clamping: query.window.from))
                """
        ).fetchAll(db)
        resources = rows.map(ResourceRows.decode)
    }

    /// The values that the senders decide themselves.
    var values: Set<String> { Set(resources.compactMap { query.dimension.value(of: $0) }) }

    /// Returns the values of the requests of the senders' services, which share their series. Series are kept by the day.
    func requestValues(in db: Database) throws -> Set<String> {
        let day = SeriesDay.of(Int64(clamping: query.window.from))
        return try Set(resources.map(\.service)).reduce(into: []) { values, service in
            let rows = try Row.fetchCursor(
                db, sql: "SELECT * FROM series WHERE service = ? AND day >= ?", arguments: [service, day])
            while let row = try rows.next() {
                guard let dimensions = SeriesRows.decode(row), query.filter.matches(dimensions),
                    let value = query.dimension.value(of: dimensions)
                else { continue }
                values.insert(value)
            }
        }
    }
}
