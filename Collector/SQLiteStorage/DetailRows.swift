import Foundation
import GRDB
import MartletTelemetry

enum DetailRows {
    static func insert(_ detail: SpanRecord, resource: Int64, at now: UnixNanoseconds, in db: Database) throws {
        guard let request = detail.request else { return }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO detail (received, resource_id, kind, method, host, port, endpoint, status, error,
                    trace_id, span_id, parent_span_id, start_time, duration, url, bytes_sent, bytes_received, message)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        let rest: StatementArguments = [
            Data(detail.traceID.bytes), Data(detail.spanID.bytes), Data(detail.parentSpanID?.bytes ?? []),
            Int64(clamping: detail.start),
            Int64(clamping: detail.durationNanoseconds), detail.url, Int64(clamping: detail.bytesSent),
            Int64(clamping: detail.bytesReceived), detail.message ?? "",
        ]
        try statement.execute(
            arguments: [Int64(clamping: now), resource] + SeriesRows.columns(of: request) + rest)
    }

    /// Deletes as many of the oldest rows as the limits ask for: about as many as came in, so it is never much at once.
    static func prune(at now: UnixNanoseconds, _ limits: SQLiteLimits, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM detail WHERE received < ?")
            .execute(arguments: [Int64(clamping: now) - Int64(clamping: limits.detailAge)])
        try db.cachedStatement(sql: "DELETE FROM detail WHERE id <= (SELECT max(id) FROM detail) - ?")
            .execute(arguments: [limits.maxDetails])
    }
}
