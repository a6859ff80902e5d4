import GRDB
import MartletStorage

/// The remembered calls.
enum ObservedCallRows {
    /// Adds calls, or the times of known ones, and deletes those past the limit that were not observed for the longest time.
    static func add(_ calls: [RememberedCall], atMost limit: Int, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO observed_call (service, environment, served_host, caller, called_host, first_time, last_time)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (service, environment, served_host, caller, called_host) DO UPDATE SET
                    first_time = min(first_time, excluded.first_time), last_time = max(last_time, excluded.last_time)
                """)
        for one in calls {
            try statement.execute(
                arguments: [
                    one.call.callee, one.environment, one.call.servedHost, one.call.caller, one.call.calledHost,
                    one.first, one.last,
                ])
        }
        try db.cachedStatement(
            sql: """
                DELETE FROM observed_call WHERE id IN (
                    SELECT id FROM observed_call ORDER BY last_time DESC LIMIT -1 OFFSET ?)
                """
        ).execute(arguments: [limit])
    }

    /// Returns the calls that were observed within a window, or both before and after it; those that were observed last, if there are
    /// more than a limit. It returns none for a version or an instance, which are not remembered.
    static func find(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int, in db: Database
    ) throws -> Set<ObservedCall> {
        guard !filter.selectsProcesses else { return [] }
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT caller, called_host, service, served_host FROM observed_call
                WHERE last_time > \(Int64(clamping: window.from)) AND first_time <= \(Int64(clamping: window.to))
                    AND \(filter.senderCondition)
                ORDER BY last_time DESC LIMIT \(limit)
                """
        ).fetchAll(db)
        return Set(rows.map(call(of:)))
    }

    /// Returns the next calls after one; `nil` if there are none.
    static func part(after number: Int64, in db: Database) throws -> CopiedPart? {
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM observed_call WHERE id > ? ORDER BY id LIMIT \(maxCopied)", arguments: [number])
        guard let last = rows.last else { return nil }
        let calls = rows.map { row in
            RememberedCall(
                call(of: row), environment: row["environment"], first: row["first_time"], last: row["last_time"])
        }
        return CopiedPart(.calls(calls), last: last["id"])
    }

    /// Calls of a part of a copy.
    private static let maxCopied = 200

    private static func call(of row: Row) -> ObservedCall {
        ObservedCall(
            caller: row["caller"], calledHost: row["called_host"], callee: row["service"],
            servedHost: row["served_host"])
    }

    /// Deletes calls that were not observed after a time, at most `rows`, and returns the number deleted.
    static func delete(until time: Int64, atMost rows: Int, in db: Database) throws -> Int {
        try db.cachedStatement(
            sql: "DELETE FROM observed_call WHERE id IN (SELECT id FROM observed_call WHERE last_time <= ? LIMIT ?)"
        ).execute(arguments: [time, rows])
        return db.changesCount
    }
}
