import Foundation
import GRDB
import MartletStorage

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
