import Foundation
import GRDB
import MartletPoints
import MartletStorage
import MartletTelemetry

enum LedgerRows {
    /// A statement that adds a reading. If two batches of one instance have the same time, the row keeps the later account
    /// and the sum of their requests.
    private static let upsert = """
        INSERT INTO ledger (resource_id, time, captured, delivered, waiting, dropped, requests, age, unwatched, cpu)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (resource_id, time) DO UPDATE SET
            captured = max(captured, excluded.captured), delivered = excluded.delivered,
            waiting = excluded.waiting, dropped = excluded.dropped,
            age = max(age, excluded.age), unwatched = max(unwatched, excluded.unwatched),
            cpu = max(cpu, excluded.cpu),
            requests = CASE
                WHEN requests > \(Int64.max) - excluded.requests THEN \(Int64.max)
                ELSE requests + excluded.requests END
        """

    static func insert(_ reading: LedgerReading, requests: UInt64, resource: Int64, in db: Database) throws {
        let statement = try db.cachedStatement(sql: upsert)
        try statement.execute(arguments: [
            resource, Int64(clamping: reading.time), Int64(clamping: reading.captured),
            Int64(clamping: reading.delivered), Int64(clamping: reading.waiting), try text(of: reading.dropped),
            Int64(clamping: requests), Int64(clamping: reading.age), Int64(clamping: reading.unwatched),
            Int64(clamping: reading.agentCPU),
        ])
    }

    /// Returns the account with the most captured requests, brought up to date: it was written before its own batch and those
    /// waiting with it arrived. The time does not tell the latest account, because a sender's clock may be set back.
    static func latest(of resource: Int64, in db: Database) throws -> LedgerReading? {
        let statement = try db.cachedStatement(
            sql: "SELECT * FROM ledger WHERE resource_id = ? ORDER BY captured DESC, time DESC LIMIT 1")
        guard let row = try Row.fetchOne(statement, arguments: [resource]) else { return nil }
        let reading = decode(row, arrived: 0)
        // Most agents have nothing else waiting. Adding up thousands of readings would take longer than all the rest.
        return reading.waiting == 0 ? reading : decode(row, arrived: try arrived(from: resource, in: db))
    }

    /// Returns all readings of a sender, each as it was written, with the requests in its batches.
    static func all(of resource: Int64, in db: Database) throws -> [CopiedSender.Reading] {
        try Row.fetchAll(db, sql: "SELECT * FROM ledger WHERE resource_id = ? ORDER BY time", arguments: [resource]).map
        {
            row in
            let requests: Int64 = row["requests"]
            return (reading(of: row), UInt64(clamping: requests))
        }
    }

    /// Returns the requests in all batches of a sender. The sum uses total(): sum() fails past 63 bits, and a sender that lies
    /// must not hide the others.
    private static func arrived(from resource: Int64, in db: Database) throws -> Int64 {
        let statement = try db.cachedStatement(
            sql: "SELECT CAST(min(total(requests), 9e18) AS INTEGER) FROM ledger WHERE resource_id = ?")
        return try Int64.fetchOne(statement, arguments: [resource]) ?? 0
    }

    /// Decodes an account and brings it up to date.
    private static func decode(_ row: Row, arrived: Int64) -> LedgerReading {
        let requests: Int64 = row["requests"]
        return reading(of: row).upToDate(requests: UInt64(clamping: requests), arrived: UInt64(clamping: arrived))
    }

    private static func reading(of row: Row) -> LedgerReading {
        let (time, captured): (Int64, Int64) = (row["time"], row["captured"])
        let (delivered, waiting): (Int64, Int64) = (row["delivered"], row["waiting"])
        let (age, unwatched, cpu): (Int64, Int64, Int64) = (row["age"], row["unwatched"], row["cpu"])
        return LedgerReading(
            time: UInt64(clamping: time), captured: UInt64(clamping: captured),
            delivered: UInt64(clamping: delivered), waiting: UInt64(clamping: waiting),
            dropped: dropped(from: row["dropped"]), age: UInt64(clamping: age), unwatched: UInt64(clamping: unwatched),
            agentCPU: UInt64(clamping: cpu))
    }

    private static func text(of dropped: [String: UInt64]) throws -> String {
        // Nearly all batches have no drops, and making an encoder costs as much as a statement.
        guard !dropped.isEmpty else { return "{}" }
        return String(decoding: try JSONEncoder().encode(dropped), as: UTF8.self)
    }

    private static func dropped(from text: String) -> [String: UInt64] {
        (try? JSONDecoder().decode([String: UInt64].self, from: Data(text.utf8))) ?? [:]
    }
}
