import GRDB
import MartletStorage
import MartletTelemetry

/// Reads what senders reported in each minute. A sender reports points of requests, figures of its process, and its ledger. Not
/// every sender has all of them.
enum SenderHistoryRows {
    static func find(
        in window: TimeWindow, _ filter: RequestFilter, in db: Database
    ) throws -> [SenderHistory] {
        let (from, to) = (Int64(clamping: window.from), Int64(clamping: window.to))
        var histories = SenderHistories(of: try senders(filter, since: from, in: db))
        try addPoints(from, to, to: &histories, in: db)
        try addProcesses(from, to, to: &histories, in: db)
        try addLedgers(from, to, to: &histories, in: db)
        return histories.all
    }

    private static func senders(
        _ filter: RequestFilter, since from: Int64, in db: Database
    ) throws -> [Int64: TelemetryResource] {
        let rows = try SQLRequest<Row>(
            literal: "SELECT * FROM \(ResourceRows.since(from)) AND \(filter.senderCondition) AND last_end > \(from)"
        ).fetchAll(db)
        return Dictionary(rows.map { ($0["id"], ResourceRows.decode($0)) }) { first, _ in first }
    }

    private static func addPoints(
        _ from: Int64, _ to: Int64, to histories: inout SenderHistories<Int64>, in db: Database
    ) throws {
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT resource_id, max(end_time) AS time FROM chunk
                    WHERE tier = \(Tier.fine.rawValue) AND rolled IN (0, 1, 2) AND end_time > ? AND end_time <= ?
                    GROUP BY resource_id, (end_time - 1) / \(Tier.minute.length)
                    """), arguments: [from, to])
        while let row = try rows.next() { try histories.add(row["resource_id"], end: row.unsigned("time")) }
    }

    private static func addProcesses(
        _ from: Int64, _ to: Int64, to histories: inout SenderHistories<Int64>, in db: Database
    ) throws {
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT * FROM process_slot
                    WHERE tier = \(Tier.minute.rawValue) AND end_time > ?1 AND end_time < ?2 + \(Tier.minute.length)
                        AND to_time <= ?2
                    """), arguments: [from, min(to, .max - Tier.minute.length)])
        while let row = try rows.next() {
            try histories.add(
                row["resource_id"], end: row.unsigned("to_time"),
                residentMemory: ProcessRows.decode(row)?.gauges[.residentMemory]?.mean)
        }
    }

    /// In a group with `max`, SQLite takes the other columns from the row with the largest value.
    private static func addLedgers(
        _ from: Int64, _ to: Int64, to histories: inout SenderHistories<Int64>, in db: Database
    ) throws {
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT resource_id, max(time) AS latest, dropped, age
                FROM (SELECT id FROM \(ResourceRows.since(from)) AND last_end > \(from)) AS resource
                CROSS JOIN ledger ON resource_id = resource.id AND time > \(from) AND time <= \(to)
                GROUP BY resource_id, (time - 1) / \(Tier.minute.length)
                """
        ).fetchCursor(db)
        while let row = try rows.next() {
            let losses = LossReading(
                time: row.unsigned("latest"), dropped: DroppedText.dropped(from: row["dropped"]),
                age: row.unsigned("age"))
            try histories.add(row["resource_id"], end: losses.time, losses: losses)
        }
    }
}
