import GRDB
import MartletStorage
import MartletTelemetry

/// The table of the times for which senders reported requests of a kind and to a system in metrics, and in spans: see
/// ``MetricsCover``. A gap longer than its patience starts another row. Martlet's agents have no rows, because their spans never
/// count.
enum StatisticsCoverRows {
    private struct Key: Hashable {
        var kind: RequestKind
        var system: String?
        /// A ``StatisticsSource`` or a ``MetricsCover/Reported``.
        var source: String
    }

    private typealias Times = (from: Int64, to: Int64)

    static func extend(by points: [RequestPoint], of resource: Int64, in db: Database) throws {
        // The loop uses indexes, because a copy of a point costs more than the work on it.
        var times: [Key: [Times]] = [:]
        // Points with only body sizes report no requests.
        for index in points.indices where points[index].statistics.requests > 0 {
            let dimensions = points[index].dimensions
            let time = (from: Int64(clamping: points[index].start), to: Int64(clamping: points[index].end))
            var key = Key(
                kind: dimensions.kind, system: dimensions.system, source: dimensions.source.rawValue)
            add(time, to: &times[key, default: []])
            guard dimensions.isUnansweredCall, dimensions.source == .metrics else { continue }
            key.source = MetricsCover.Reported.unanswered.rawValue
            add(time, to: &times[key, default: []])
        }
        for (key, times) in times {
            for time in times { try insert(time, key, resource, in: db) }
        }
    }

    /// Adds a time to the last of the known ones if it is next to it.
    private static func add(_ time: Times, to known: inout [Times]) {
        if let last = known.last, isNext(last, time) {
            known[known.count - 1] = union(last, time)
        } else {
            known.append(time)
        }
    }

    /// Adds a time to the row that it overlaps or follows, and joins the rows that it connects.
    private static func insert(_ time: Times, _ key: Key, _ resource: Int64, in db: Database) throws {
        let patience = Int64(clamping: MetricsCover.patience)
        let arguments: StatementArguments = [resource, key.kind.rawValue, key.system ?? "", key.source]
        let near = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT from_time, to_time FROM statistics_cover
                    WHERE resource_id = ? AND kind = ? AND system = ? AND source = ? AND from_time <= ? AND to_time >= ?
                    """),
            arguments: arguments + [
                time.to.addingReportingOverflow(patience).overflow ? .max : time.to + patience, time.from - patience,
            ])
        var joined = time
        for row in near {
            let known: Times = (row["from_time"], row["to_time"])
            if near.count == 1, known.from <= time.from, known.to >= time.to { return }
            joined = union(joined, known)
            try db.cachedStatement(
                sql: """
                    DELETE FROM statistics_cover
                    WHERE resource_id = ? AND kind = ? AND system = ? AND source = ? AND from_time = ?
                    """
            ).execute(arguments: arguments + [known.from])
        }
        try db.cachedStatement(
            sql: """
                INSERT INTO statistics_cover (resource_id, kind, system, source, from_time, to_time)
                VALUES (?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: arguments + [joined.from, joined.to])
    }

    /// Whether two times have no gap between them in which spans would count.
    private static func isNext(_ one: Times, _ other: Times) -> Bool {
        let patience = Int64(clamping: MetricsCover.patience)
        return max(one.from, other.from) - patience <= min(one.to, other.to)
    }

    private static func union(_ one: Times, _ other: Times) -> Times {
        (min(one.from, other.from), max(one.to, other.to))
    }

    /// Returns the source that each kind of a sender's requests is counted from.
    static func sources(of resource: Int64, in db: Database) throws -> [RequestKind: StatisticsSource] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT DISTINCT kind, source FROM statistics_cover
                WHERE resource_id = ? AND source != 'unanswered' ORDER BY source DESC
                """)
        return try Row.fetchAll(statement, arguments: [resource]).reduce(into: [:]) { sources, row in
            guard let kind = RequestKind(rawValue: row["kind"]) else { return }
            // Rows of metrics come last and replace rows of spans, because both report the same requests.
            sources[kind] = StatisticsSource(rawValue: row["source"])
        }
    }

    /// Returns the times in which metrics cover the spans of a sender; `nil` if there are none. The metrics come from all senders
    /// of the same service and instance, because the metrics and the spans of one process may differ in the rest of their resources.
    static func cover(ofSpansOf resource: Int64, in db: Database) throws -> MetricsCover? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT DISTINCT spans.kind, spans.system, metrics.source, metrics.from_time,
                    metrics.to_time
                FROM statistics_cover spans
                JOIN resource ON resource.id = spans.resource_id
                JOIN resource other ON other.service = resource.service AND other.instance = resource.instance
                JOIN statistics_cover metrics
                    ON metrics.resource_id = other.id AND metrics.kind = spans.kind
                    AND metrics.system = spans.system AND metrics.source != 'spans'
                WHERE spans.source = 'spans' AND spans.resource_id = ?
                """)
        return try Row.fetchAll(statement, arguments: [resource]).reduce(into: nil) { cover, row in
            guard let kind = RequestKind(rawValue: row["kind"]),
                let report = MetricsCover.Reported(rawValue: row["source"])
            else { return }
            let system: String = row["system"]
            var more = cover ?? MetricsCover()
            more.insert(kind, system.isEmpty ? nil : system, report, from: row["from_time"], to: row["to_time"])
            cover = more
        }
    }
}
