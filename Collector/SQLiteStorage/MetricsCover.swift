import GRDB
import MartletTelemetry

/// The time in which an instance sent metrics of a kind of requests. What its spans tell of that time is not counted: the
/// metrics have the same requests. Decided when a report is made, because metrics come later than the spans.
///
/// Martlet's agents need none, for their spans never count.
struct MetricsCover {
    static let schema = """
        CREATE TABLE metrics_cover (
            resource_id INTEGER NOT NULL REFERENCES resource(id) ON DELETE CASCADE,
            kind TEXT NOT NULL,
            -- The sender's clock.
            from_time INTEGER NOT NULL, to_time INTEGER NOT NULL,
            PRIMARY KEY (resource_id, kind)
        ) STRICT, WITHOUT ROWID;

        """

    /// How much later the next metrics may come: longer than anyone's interval of export.
    private static let patience: UnixNanoseconds = 3600 * 1_000_000_000

    private struct Sender: Hashable {
        var service: String
        var instance: String
        var kind: RequestKind
    }

    private let ranges: [Sender: ClosedRange<UnixNanoseconds>]

    /// By service and instance alone: metrics and spans of one process may differ in the rest of their resources.
    init(in db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT service, instance, kind, min(from_time) AS from_time, max(to_time) AS to_time
                FROM metrics_cover JOIN resource ON resource.id = resource_id GROUP BY service, instance, kind
                """)
        var ranges: [Sender: ClosedRange<UnixNanoseconds>] = [:]
        for row in rows {
            guard let kind = RequestKind(rawValue: row["kind"]) else { continue }
            let (from, to): (Int64, Int64) = (row["from_time"], row["to_time"])
            ranges[Sender(service: row["service"], instance: row["instance"], kind: kind)] =
                UInt64(clamping: from)...UInt64(clamping: max(from, to)) + Self.patience
        }
        self.ranges = ranges
    }

    /// Points of spans that end in this time are left out; `nil` when all of them count.
    func range(of kind: RequestKind, from resource: TelemetryResource) -> ClosedRange<UnixNanoseconds>? {
        ranges[Sender(service: resource.service, instance: resource.instance, kind: kind)]
    }

    /// Extends it by the points of metrics.
    static func extend(by points: [RequestPoint], of resource: Int64, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO metrics_cover (resource_id, kind, from_time, to_time) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET
                    from_time = min(from_time, excluded.from_time), to_time = max(to_time, excluded.to_time)
                """)
        for (kind, points) in Dictionary(grouping: points, by: \.dimensions.kind) {
            guard let from = points.map(\.start).min(), let to = points.map(\.end).max() else { continue }
            try statement.execute(arguments: [
                resource, kind.rawValue, Int64(clamping: from), Int64(clamping: to),
            ])
        }
    }
}
