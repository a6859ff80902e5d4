import GRDB
import MartletTelemetry

enum ResourceRows {
    /// The row of a sender, which is made or brought up to date.
    static func id(of resource: TelemetryResource, seenAt now: UnixNanoseconds, in db: Database) throws -> Int64 {
        let time = Int64(clamping: now)
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO resource (service, version, environment, instance, host, capture_mode, capture_reason, agent,
                    first_seen, last_seen)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (service, version, environment, instance, host) DO UPDATE SET
                    capture_mode = excluded.capture_mode, capture_reason = excluded.capture_reason,
                    agent = excluded.agent, last_seen = excluded.last_seen
                RETURNING id
                """)
        let id = try Int64.fetchOne(
            statement,
            arguments: [
                resource.service, resource.version ?? "", resource.environment ?? "", resource.instance,
                resource.host ?? "", resource.captureMode ?? "", resource.captureReason ?? "", resource.agent ?? "",
                time, time,
            ])
        guard let id else { throw DatabaseError(message: "a resource has no id") }
        return id
    }

    /// Remembers until when the sender has points.
    static func extend(_ id: Int64, to end: Int64, in db: Database) throws {
        let statement = try db.cachedStatement(sql: "UPDATE resource SET last_end = ?2 WHERE id = ?1 AND last_end < ?2")
        try statement.execute(arguments: [id, end])
    }

    static func find(_ id: Int64, in db: Database) throws -> TelemetryResource? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM resource WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id]).map(decode)
    }

    static func decode(_ row: Row) -> TelemetryResource {
        TelemetryResource(
            service: row["service"], version: present(row["version"]), environment: present(row["environment"]),
            instance: row["instance"], host: present(row["host"]), captureMode: present(row["capture_mode"]),
            captureReason: present(row["capture_reason"]), agent: present(row["agent"]))
    }

    private static func present(_ text: String) -> String? {
        text.isEmpty ? nil : text
    }
}
