import GRDB
import MartletTelemetry
import Synchronization

enum ResourceRows {
    /// Returns the row of a sender. Creates or updates it.
    ///
    /// - Parameter end: the latest end of its points.
    static func id(
        of resource: TelemetryResource, seenAt now: UnixNanoseconds, pointsUntil end: UnixNanoseconds,
        known: WriterResources, in db: Database
    ) throws -> Int64 {
        let (now, end) = (Int64(clamping: now), Int64(clamping: end))
        if let id = known.id(of: resource), try update(id, with: resource, seenAt: now, pointsUntil: end, in: db) {
            return id
        }
        let id = try upsert(resource, seenAt: now, pointsUntil: end, in: db)
        known.keep(id, of: resource)
        return id
    }

    /// Updates a row from the writer's cache.
    ///
    /// - Returns: `false` if the row was deleted or belongs to another sender.
    private static func update(
        _ id: Int64, with resource: TelemetryResource, seenAt now: Int64, pointsUntil end: Int64, in db: Database
    ) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE resource SET capture_mode = ?, capture_reason = ?, agent = ?, runtime = ?, rules = ?, last_seen = ?,
                    first_seen = min(first_seen, ?), last_end = max(last_end, ?)
                WHERE id = ? AND service = ? AND version = ? AND environment = ? AND instance = ? AND host = ?
                """)
        try statement.execute(
            arguments: state(of: resource) + [now, now, end, id] + identity(of: resource))
        return db.changesCount == 1
    }

    private static func upsert(
        _ resource: TelemetryResource, seenAt now: Int64, pointsUntil end: Int64, in db: Database
    ) throws -> Int64 {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO resource (service, version, environment, instance, host, capture_mode, capture_reason, agent,
                    runtime, rules, first_seen, last_seen, last_end)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (service, version, environment, instance, host) DO UPDATE SET
                    capture_mode = excluded.capture_mode, capture_reason = excluded.capture_reason,
                    agent = excluded.agent, runtime = excluded.runtime, rules = excluded.rules,
                    last_seen = excluded.last_seen,
                    -- It lies in the future if the collector's clock was ahead.
                    first_seen = min(first_seen, excluded.first_seen),
                    last_end = max(last_end, excluded.last_end)
                RETURNING id
                """)
        let arguments = identity(of: resource) + state(of: resource) + [now, now, end]
        guard let id = try Int64.fetchOne(statement, arguments: arguments) else {
            throw DatabaseError(message: "a resource has no id")
        }
        return id
    }

    private static func identity(of resource: TelemetryResource) -> StatementArguments {
        [
            resource.service, resource.version ?? "", resource.environment ?? "", resource.instance,
            resource.host ?? "",
        ]
    }

    /// The columns that may change during a sender's life.
    private static func state(of resource: TelemetryResource) -> StatementArguments {
        [
            resource.captureMode ?? "", resource.captureReason ?? "", resource.agent ?? "", resource.runtime ?? "",
            resource.rules ?? 0,
        ]
    }

    static func find(_ id: Int64, in db: Database) throws -> TelemetryResource? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM resource WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id]).map(decode)
    }

    static func decode(_ row: Row) -> TelemetryResource {
        var resource = TelemetryResource(
            service: row["service"], version: present(row["version"]), environment: present(row["environment"]),
            instance: row["instance"], host: present(row["host"]), captureMode: present(row["capture_mode"]),
            captureReason: present(row["capture_reason"]), agent: present(row["agent"]),
            runtime: present(row["runtime"]))
        let rules: Int = row["rules"]
        resource.rules = rules > 0 ? rules : nil
        return resource
    }

    private static func present(_ text: String) -> String? {
        text.isEmpty ? nil : text
    }
}

/// The writer's cache of each sender's row. It may be wrong after a rollback or the expiry of a sender; ``ResourceRows`` checks it.
final class WriterResources: Sendable {
    /// The largest number of senders. Past it the cache is emptied, and senders are looked up as they come. They take at most 20
    /// MB, and usually a quarter of that.
    private static let maxResources = 10_000
    /// The largest size of a sender's texts, in bytes. A sender with longer texts is looked up each time.
    private static let maxBytes = 1024

    private let ids = Mutex<[TelemetryResource: Int64]>([:])

    func id(of resource: TelemetryResource) -> Int64? {
        ids.withLock { $0[resource] }
    }

    func keep(_ id: Int64, of resource: TelemetryResource) {
        guard resource.textBytes <= Self.maxBytes else { return }
        ids.withLock { ids in
            if ids.count >= Self.maxResources { ids = [:] }
            ids[resource] = id
        }
    }
}

extension TelemetryResource {
    fileprivate var textBytes: Int {
        [service, version, environment, instance, host, captureMode, captureReason, agent]
            .reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    }
}
