import Foundation
import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func keep(_ findings: [FindingRecord], removing removed: [FindingRecord]) async throws {
        guard !(findings + removed).isEmpty else { return }
        try await write { db in
            for record in removed { try FindingRows.remove(record, in: db) }
            for record in findings { try FindingRows.insert(record, in: db) }
            for environment in Set(findings.map(\.environment)) {
                try FindingRows.forgetOldest(of: environment, atMost: FindingRecord.limit, in: db)
            }
        }
    }

    package func findings(_ query: FindingRecordsQuery) async throws -> [FindingRecord] {
        try await read { try FindingRows.find(query, in: $0) }
    }
}

/// Rows of `finding`.
enum FindingRows {
    static func insert(_ record: FindingRecord, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO finding (environment, name, began, end_time, changed, text) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (environment, name) DO UPDATE SET
                    began = excluded.began, end_time = excluded.end_time, changed = excluded.changed, text = excluded.text
                """
        ).execute(arguments: [
            record.environment, record.id, Int64(clamping: record.began), Int64(clamping: record.end ?? 0),
            Int64(clamping: record.changed), record.text,
        ])
    }

    static func remove(_ record: FindingRecord, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM finding WHERE environment = ? AND name = ?")
            .execute(arguments: [record.environment, record.id])
    }

    /// Deletes the records of an environment that began first, past a number.
    static func forgetOldest(of environment: String, atMost limit: Int, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM finding WHERE id IN (
                    SELECT id FROM finding WHERE environment = ? ORDER BY began DESC, id DESC LIMIT -1 OFFSET ?)
                """
        ).execute(arguments: [environment, limit])
    }

    /// Deletes records that have not changed since a time, at most ``SQLiteLimits/deletedRows``, and returns their number.
    static func delete(until time: Int64, in db: Database) throws -> Int {
        try db.delete(from: "finding", where: "changed <= ?", [time], atMost: SQLiteLimits.deletedRows)
    }

    static func find(_ query: FindingRecordsQuery, in db: Database) throws -> [FindingRecord] {
        let environments = query.environments?.sorted()
        let selected: SQL = environments.map { "environment IN \($0)" } ?? "TRUE"
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT * FROM finding WHERE \(selected) AND began < \(Int64(clamping: query.window.to))
                    AND (end_time = 0 OR end_time > \(Int64(clamping: query.window.from)))
                ORDER BY began DESC, name LIMIT \(query.limit)
                """
        ).fetchAll(db)
        return rows.map(decode)
    }

    private static func decode(_ row: Row) -> FindingRecord {
        let end = row.unsigned("end_time")
        return FindingRecord(
            environment: row["environment"], id: row["name"], began: row.unsigned("began"),
            end: end > 0 ? end : nil, changed: row.unsigned("changed"), text: row["text"])
    }
}

/// The table of what receivers of notifications have acknowledged.
enum NotificationRows {
    static func state(of key: NotificationKey, in db: Database) throws -> NotifiedState? {
        let statement = try db.cachedStatement(sql: "SELECT state FROM notification WHERE name = ?")
        return try UInt8.fetchOne(statement, arguments: [Data(key.bytes)]).flatMap(NotifiedState.init)
    }

    static func set(_ state: NotifiedState, of key: NotificationKey, at time: Int64, in db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO notification (name, state, time) VALUES (?, ?, ?)")
            .execute(arguments: [Data(key.bytes), state.rawValue, time])
    }

    static func delete(until time: Int64, in db: Database) throws -> Int {
        try db.delete(
            from: "notification", by: "name", where: "time <= ?", [time], atMost: SQLiteLimits.deletedRows)
    }
}
