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

    /// The latest account, brought up to date: it was written before its own batch and those waiting with it arrived.
    static func latest(of resource: Int64, in db: Database) throws -> LedgerReading? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT *, (SELECT sum(requests) FROM ledger WHERE resource_id = :resource) AS arrived
                FROM ledger WHERE resource_id = :resource ORDER BY time DESC LIMIT 1
                """)
        return try Row.fetchOne(statement, arguments: ["resource": resource]).map(decode)
    }

    /// Of what went to another collector only the agent's account tells.
    private static func decode(_ row: Row) -> LedgerReading {
        let (time, captured, arrived): (Int64, Int64, Int64) = (row["time"], row["captured"], row["arrived"])
        let (delivered, requests): (Int64, Int64) = (row["delivered"], row["requests"])
        var ledger = Ledger(captured: UInt64(clamping: captured), dropped: dropped(from: row["dropped"]))
        let settled = ledger.dropped.values.reduce(0, &+)
        let undropped = ledger.captured >= settled ? ledger.captured - settled : 0
        ledger.delivered = min(
            undropped, UInt64(clamping: max(delivered.addingReportingOverflow(requests).partialValue, arrived)))
        ledger.waiting = undropped - ledger.delivered
        return LedgerReading(time: UInt64(clamping: time), ledger: ledger)
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
