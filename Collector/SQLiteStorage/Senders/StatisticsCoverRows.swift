import GRDB
import MartletPoints
import MartletStorage
import MartletTelemetry

/// The table of the times for which senders reported a kind of requests in metrics, and in spans: see ``MetricsCover``.
/// Martlet's agents have no rows, because their spans never count.
enum StatisticsCoverRows {
    private struct Key: Hashable {
        var kind: RequestKind
        var source: StatisticsSource
    }

    static func extend(by points: [RequestPoint], of resource: Int64, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO statistics_cover (resource_id, kind, source, from_time, to_time) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET
                    from_time = min(from_time, excluded.from_time), to_time = max(to_time, excluded.to_time)
                """)
        // The loop uses indexes: a copy of a point costs more than the work on it.
        var times: [Key: (from: UnixNanoseconds, to: UnixNanoseconds)] = [:]
        // Sizes of bodies alone report no requests.
        for index in points.indices where points[index].statistics.requests > 0 {
            let key = Key(kind: points[index].dimensions.kind, source: points[index].dimensions.source)
            let known = times[key] ?? (from: .max, to: 0)
            times[key] = (min(known.from, points[index].start), max(known.to, points[index].end))
        }
        for (key, time) in times {
            try statement.execute(arguments: [
                resource, key.kind.rawValue, key.source.rawValue, Int64(clamping: time.from), Int64(clamping: time.to),
            ])
        }
    }

    /// Returns the source that each kind of a sender's requests is counted from.
    static func sources(of resource: Int64, in db: Database) throws -> [RequestKind: StatisticsSource] {
        let statement = try db.cachedStatement(
            sql: "SELECT kind, source FROM statistics_cover WHERE resource_id = ? ORDER BY source DESC")
        return try Row.fetchAll(statement, arguments: [resource]).reduce(into: [:]) { sources, row in
            guard let kind = RequestKind(rawValue: row["kind"]) else { return }
            // Rows of metrics come last and replace those of spans, because metrics report the same requests.
            sources[kind] = StatisticsSource(rawValue: row["source"])
        }
    }

    /// Returns the times in which metrics cover the spans of each sender, by its row. The metrics are those of all senders of
    /// the same service and instance: metrics and spans of one process may differ in the rest of their resources.
    ///
    /// - Parameter resource: the only sender of spans that is read; `nil` for all.
    static func covers(ofSpansOf resource: Int64? = nil, in db: Database) throws -> [Int64: MetricsCover] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT spans.resource_id, spans.kind, min(metrics.from_time) AS from_time,
                    max(metrics.to_time) AS to_time
                FROM statistics_cover spans
                JOIN resource ON resource.id = spans.resource_id
                JOIN resource other ON other.service = resource.service AND other.instance = resource.instance
                JOIN statistics_cover metrics
                    ON metrics.resource_id = other.id AND metrics.kind = spans.kind AND metrics.source = 'metrics'
                WHERE spans.source = 'spans'\(resource == nil ? "" : " AND spans.resource_id = ?")
                GROUP BY spans.resource_id, spans.kind
                """)
        let rows = try Row.fetchAll(statement, arguments: resource.map { [$0] } ?? [])
        return rows.reduce(into: [:]) { covers, row in
            guard let kind = RequestKind(rawValue: row["kind"]) else { return }
            let id: Int64 = row["resource_id"]
            covers[id, default: MetricsCover()].insert(kind, from: row["from_time"], to: row["to_time"])
        }
    }
}
