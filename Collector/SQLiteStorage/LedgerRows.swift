import Foundation
import GRDB
import MartletTelemetry

enum LedgerRows {
    static func insert(_ reading: LedgerReading, requests: UInt64, resource: Int64, in db: Database) throws {
        let ledger = reading.ledger
        // Two batches of one instance and one moment: the later account, and the requests of both.
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO ledger (resource_id, time, captured, delivered, waiting, dropped, requests)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (resource_id, time) DO UPDATE SET
                    captured = max(captured, excluded.captured), delivered = excluded.delivered,
                    waiting = excluded.waiting, dropped = excluded.dropped, requests = requests + excluded.requests
                """)
        try statement.execute(arguments: [
            resource, Int64(clamping: reading.time), Int64(clamping: ledger.captured),
            Int64(clamping: ledger.delivered), Int64(clamping: ledger.waiting), try text(of: ledger.dropped),
            Int64(clamping: requests),
        ])
    }

    static func latest(of resource: Int64, in db: Database) throws -> LedgerReading? {
        let statement = try db.cachedStatement(
            sql: "SELECT * FROM ledger WHERE resource_id = ? ORDER BY time DESC LIMIT 1")
        return try Row.fetchOne(statement, arguments: [resource]).map(decode)
    }

    private static func decode(_ row: Row) -> LedgerReading {
        let (time, captured, delivered, waiting): (Int64, Int64, Int64, Int64) =
            (row["time"], row["captured"], row["delivered"], row["waiting"])
        return LedgerReading(
            time: UInt64(clamping: time),
            ledger: Ledger(
                captured: UInt64(clamping: captured), delivered: UInt64(clamping: delivered),
                waiting: UInt64(clamping: waiting), dropped: dropped(from: row["dropped"])))
    }

    private static func text(of dropped: [DropReason: UInt64]) throws -> String {
        let named = Dictionary(uniqueKeysWithValues: dropped.map { ($0.rawValue, $1) })
        return String(decoding: try JSONEncoder().encode(named), as: UTF8.self)
    }

    private static func dropped(from text: String) -> [DropReason: UInt64] {
        let named = (try? JSONDecoder().decode([String: UInt64].self, from: Data(text.utf8))) ?? [:]
        var dropped: [DropReason: UInt64] = [:]
        for (name, requests) in named { DropReason(rawValue: name).map { dropped[$0] = requests } }
        return dropped
    }
}
