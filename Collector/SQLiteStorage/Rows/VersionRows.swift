import Foundation
import GRDB
import MartletStorage
import MartletTelemetry

/// A version of a service in an environment. Minutes and hours belong to it. Absent texts are empty.
struct VersionName: Hashable, Sendable {
    var service: String
    var version: String
    var environment: String
}

/// The table of versions.
enum VersionRows {
    /// Returns the number of a version, and creates its row if needed.
    ///
    /// - Parameter end: the end of an hour or minute with something of it.
    static func id(of name: VersionName, until end: Int64, in db: Database) throws -> Int64 {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO version (service, version, environment, last_hour) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET last_hour = max(last_hour, excluded.last_hour) RETURNING id
                """)
        let hour = Tier.hour.slotEnd(of: end) / Tier.hour.length
        guard
            let id = try Int64.fetchOne(
                statement, arguments: [name.service, name.version, name.environment, hour])
        else { throw DatabaseError(message: "a version has no id") }
        return id
    }

    /// Returns `nil` for an unknown version.
    static func find(_ name: VersionName, in db: Database) throws -> Int64? {
        let statement = try db.cachedStatement(
            sql: "SELECT id FROM version WHERE service = ? AND version = ? AND environment = ?")
        return try Int64.fetchOne(statement, arguments: [name.service, name.version, name.environment])
    }

    /// Returns a version as a sender without an instance.
    static func find(_ id: Int64, in db: Database) throws -> TelemetryResource? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM version WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id]).map(decode)
    }

    static func decode(_ row: Row) -> TelemetryResource {
        let (version, environment): (String, String) = (row["version"], row["environment"])
        return TelemetryResource(
            service: row["service"], version: version.isEmpty ? nil : version,
            environment: environment.isEmpty ? nil : environment, instance: "")
    }

    /// The versions with something in an hour that ends after a time, as a table with a condition on its rows.
    static func since(_ time: Int64) -> SQL {
        "version INDEXED BY version_by_hour WHERE version.last_hour > \(max(time, 0) / Tier.hour.length)"
    }

    /// Deletes versions of which nothing is left, at most ``SQLiteLimits/deletedRows``, and returns the number deleted.
    static func delete(until end: Int64, in db: Database) throws -> Int {
        try db.delete(
            from: "version", where: "last_hour <= ?", [end / Tier.hour.length], atMost: SQLiteLimits.deletedRows)
    }
}

/// The table of the minutes and hours of versions.
enum VersionChunkRows {
    static func insert(
        _ blob: ChunkBlob, of version: Int64, _ tier: Tier, end: Int64, damaged: Int, in db: Database
    ) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO version_chunk (tier, rolled, version_id, end_time, count, damaged, checksum, points)
                VALUES (?, 0, ?, ?, ?, ?, ?, ?)
                """)
        let bytes = blob.bytes
        try statement.execute(arguments: [
            tier.rawValue, version, end, blob.count, damaged, Int64(checksumOf: bytes), Data(bytes),
        ])
    }

    /// Returns the chunks of a slot that are not rolled up.
    static func open(of name: VersionName, _ tier: Tier, end: Int64, in db: Database) throws -> [Int64] {
        guard let version = try VersionRows.find(name, in: db) else { return [] }
        let statement = try db.cachedStatement(
            sql: "SELECT id FROM version_chunk WHERE tier = ? AND rolled = 0 AND end_time = ? AND version_id = ?")
        return try Int64.fetchAll(statement, arguments: [tier.rawValue, end, version])
    }
}
