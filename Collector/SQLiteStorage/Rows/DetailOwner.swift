import GRDB
import MartletStorage
import MartletTelemetry

/// The owner of a kept span's room: the endpoint that its service served in this trace, or else called. A trace with a failed or slow
/// request is notable, so that it is kept longest.
struct DetailOwner: Equatable {
    var endpoint = ""
    var isNotable = false

    /// A request that takes longer is slow: the default of the agent's `MARTLET_SLOW`.
    static let slow: UInt64 = 1_000_000_000

    /// The most endpoints of a service with a share each. All others have one share, so that names without end make no shares
    /// without end.
    static let maxShares = 500

    private var isServed = false

    private mutating func add(_ span: SpanRecord) {
        guard let request = span.request else { return }
        isNotable = isNotable || RequestClass(request).isFailure || span.durationNanoseconds > Self.slow
        guard endpoint.isEmpty || (request.kind == .server && !isServed) else { return }
        (endpoint, isServed) = (request.endpoint, request.kind == .server)
    }

    /// Returns the owner of each trace in a batch. A stored trace becomes notable with its first failed or slow request, and stays
    /// so.
    static func owners(
        of spans: [SpanRecord], service: String, in db: Database
    ) throws -> [TraceID: DetailOwner] {
        var owners = spans.reduce(into: [TraceID: DetailOwner]()) { $0[$1.traceID, default: DetailOwner()].add($1) }
        let shares = try shares(for: Set(owners.values.map(\.endpoint)), service: service, in: db)
        for (trace, owner) in owners {
            if !shares.contains(owner.endpoint) { owners[trace]?.endpoint = "" }
            if owner.isNotable {
                try markNotable(trace, in: db)
            } else {
                owners[trace]?.isNotable = try isStoredNotable(trace, in: db)
            }
        }
        return owners
    }

    /// Returns the endpoints that have a share of their service's room, or get one.
    private static func shares(
        for endpoints: Set<String>, service: String, in db: Database
    ) throws -> Set<String> {
        let exists = try db.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM endpoint_share WHERE service = ? AND owner = ?)")
        let count = try db.cachedStatement(
            sql: "SELECT count(DISTINCT owner) FROM endpoint_share WHERE service = ?")
        let known = try endpoints.filter { try Bool.fetchOne(exists, arguments: [service, $0]) ?? false }
        guard known.count < endpoints.count else { return known }
        let room = maxShares - (try Int.fetchOne(count, arguments: [service]) ?? 0)
        return known.union(endpoints.subtracting(known).sorted().prefix(max(0, room)))
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
