import GRDB
import MartletStorage
import MartletTelemetry

/// Whose room a kept span takes: the endpoint that its service served in this trace, or else called; and whether the trace has a
/// failed or slow request, so that it is kept longest.
struct DetailOwner: Equatable {
    var endpoint = ""
    var isNotable = false

    /// A request that takes longer is slow: the default of the agent's `MARTLET_SLOW`.
    static let slow: UInt64 = 1_000_000_000

    private var isServed = false

    private mutating func add(_ span: SpanRecord) {
        guard let request = span.request else { return }
        isNotable = isNotable || RequestClass(request).isFailure || span.durationNanoseconds > Self.slow
        guard endpoint.isEmpty || (request.kind == .server && !isServed) else { return }
        (endpoint, isServed) = (request.endpoint, request.kind == .server)
    }

    /// Returns the owner of each trace in a batch. A stored trace becomes notable with its first failed or slow request, and stays
    /// so.
    static func owners(of spans: [SpanRecord], in db: Database) throws -> [TraceID: DetailOwner] {
        var owners = spans.reduce(into: [TraceID: DetailOwner]()) { $0[$1.traceID, default: DetailOwner()].add($1) }
        for (trace, owner) in owners {
            if owner.isNotable {
                try markNotable(trace, in: db)
            } else {
                owners[trace]?.isNotable = try isStoredNotable(trace, in: db)
            }
        }
        return owners
    }

    private static func isStoredNotable(_ trace: TraceID, in db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM detail WHERE trace_id = ? AND notable = 1)"),
            arguments: [trace.blob]) ?? false
    }

    private static func markNotable(_ trace: TraceID, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE detail SET notable = 1 WHERE id IN (
                    SELECT id FROM detail INDEXED BY detail_by_trace WHERE trace_id = ? AND notable = 0 LIMIT ?)
                """
        ).execute(arguments: [trace.blob, SQLiteLimits.deletedRows])
    }
}
