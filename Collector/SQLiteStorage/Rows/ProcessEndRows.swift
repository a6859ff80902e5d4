import GRDB
import MartletStorage
import MartletTelemetry

/// The table of ends of processes.
enum ProcessEndRows {
    /// The most ends of a service. Past it, the oldest are deleted. An end takes some 400 bytes.
    private static let maxEnds = 10_000

    private typealias Column = NamedColumn<StoredEnd>

    /// Two processes may report the same end, and a batch may bring it again.
    private static let insertion = RowInsertion(
        into: "process_end",
        [
            Column("service") { $0.service }, Column("environment") { $0.environment ?? "" },
            Column("version") { $0.end.version ?? "" }, Column("instance") { $0.end.instance },
            Column("reporter") { $0.reporter }, Column("time") { Int64(clamping: $0.end.time) },
            Column("cause") { $0.end.cause.rawValue }, Column("signal") { $0.end.signal ?? "" },
            Column("function") { $0.end.function ?? "" }, Column("file") { $0.end.file ?? "" },
            Column("line") { $0.end.line ?? 0 }, Column("endpoint") { $0.end.endpoint ?? "" },
        ],
        onConflict: "ON CONFLICT DO NOTHING")

    /// Adds ends, and returns those that were not there.
    static func insert(
        _ ends: [ReportedEnd], from reporter: TelemetryResource, in db: Database
    ) throws -> [ReportedEnd] {
        guard !ends.isEmpty else { return [] }
        let new = try ends.filter { end in
            let stored = StoredEnd(
                service: reporter.service, environment: reporter.environment, reporter: reporter.instance, end: end)
            try insertion.insert(stored, in: db)
            return db.changesCount > 0
        }
        try db.cachedStatement(
            sql: """
                DELETE FROM process_end WHERE id IN (
                    SELECT id FROM process_end WHERE service = ? ORDER BY time DESC LIMIT -1 OFFSET \(maxEnds))
                """
        ).execute(arguments: [reporter.service])
        return new
    }

    static func find(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int, in db: Database
    ) throws -> [StoredEnd] {
        try SQLRequest<Row>(
            literal: """
                SELECT * FROM process_end
                WHERE time > \(Int64(clamping: window.from)) AND time <= \(Int64(clamping: window.to))
                    AND \(filter.senderCondition)
                ORDER BY time DESC, instance LIMIT \(limit)
                """
        ).fetchAll(db).map(decode)
    }

    private static func decode(_ row: Row) -> StoredEnd {
        func text(_ column: String) -> String? {
            let text: String = row[column]
            return text.isEmpty ? nil : text
        }
        let line: Int = row["line"]
        return StoredEnd(
            service: row["service"], environment: text("environment"), reporter: row["reporter"],
            end: ReportedEnd(
                instance: row["instance"], version: text("version"), time: row.unsigned("time"),
                cause: EndCause(rawValue: row["cause"]) ?? .unknown, signal: text("signal"),
                function: text("function"), file: text("file"), line: line > 0 ? line : nil,
                endpoint: text("endpoint")))
    }
}
