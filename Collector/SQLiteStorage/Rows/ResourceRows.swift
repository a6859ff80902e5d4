import GRDB
import MartletStorage
import MartletTelemetry
import Synchronization

enum ResourceRows {
    /// Creates or updates the row of a sender, and returns its number.
    ///
    /// - Parameters:
    ///   - end: the latest end of its points.
    ///   - latest: the latest time that it reported.
    static func id(
        of resource: TelemetryResource, seenAt now: UnixNanoseconds, pointsUntil end: UnixNanoseconds,
        latest: UnixNanoseconds, known: WriterResources, in db: Database
    ) throws -> Int64 {
        let hour = Int64(clamping: max(now, latest)) / Tier.hour.length
        let (now, end) = (Int64(clamping: now), Int64(clamping: end))
        if let known = known.find(resource), known.hour >= hour,
            try update(known.id, with: resource, seenAt: now, pointsUntil: end, in: db)
        {
            return known.id
        }
        let id = try upsert(resource, seenAt: now, pointsUntil: end, in: db)
        try DepartedRows.restore(resource, row: id, in: db)
        try db.cachedStatement(sql: "UPDATE resource SET last_hour = ?1 WHERE id = ?2 AND last_hour < ?1")
            .execute(arguments: [hour, id])
        known.keep(id, hour: hour, of: resource)
        return id
    }

    /// The senders that gave a sign at a time or later, as a table with a condition on its rows. The index is named, because SQLite
    /// would rather take that of a filter's service, which may have had millions of processes.
    static func since(_ time: Int64) -> SQL {
        "resource INDEXED BY resource_by_hour WHERE resource.last_hour >= \(max(time, 0) / Tier.hour.length)"
    }

    /// Updates a row from the writer's cache.
    ///
    /// - Returns: `false` if the row was deleted or belongs to another sender.
    private static func update(
        _ id: Int64, with resource: TelemetryResource, seenAt now: Int64, pointsUntil end: Int64, in db: Database
    ) throws -> Bool {
        try db.cachedStatement(sql: update)
            .execute(arguments: state(of: resource) + [now, now, end, id] + identity(of: resource))
        return db.changesCount == 1
    }

    private static func upsert(
        _ resource: TelemetryResource, seenAt now: Int64, pointsUntil end: Int64, in db: Database
    ) throws -> Int64 {
        let arguments = identity(of: resource) + state(of: resource) + [now, now, end]
        guard let id = try Int64.fetchOne(db.cachedStatement(sql: upsert), arguments: arguments) else {
            throw DatabaseError(message: "a resource has no id")
        }
        return id
    }

    private static let identityColumns = SenderText.identity.map(\.column)
    /// The columns that may change during a sender's life.
    private static let stateColumns = SenderText.state.map(\.column) + ["rules"]

    private static let update = """
        UPDATE resource SET \(stateColumns.map { "\($0) = ?" }.joined(separator: ", ")), last_seen = ?,
            first_seen = min(first_seen, ?), last_end = max(last_end, ?)
        WHERE id = ? AND \(identityColumns.map { "\($0) = ?" }.joined(separator: " AND "))
        """

    private static let upsert = """
        INSERT INTO resource
            (\((identityColumns + stateColumns).joined(separator: ", ")), first_seen, last_seen, last_end)
        VALUES (\(Database.marks(identityColumns.count + stateColumns.count + 3)))
        ON CONFLICT DO UPDATE SET
            \(stateColumns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")), last_seen = excluded.last_seen,
            -- It lies in the future if the collector's clock was ahead.
            first_seen = min(first_seen, excluded.first_seen),
            last_end = max(last_end, excluded.last_end)
        RETURNING id
        """

    private static func identity(of resource: TelemetryResource) -> StatementArguments {
        StatementArguments(SenderText.identity.map { $0.value(of: resource) ?? "" })
    }

    private static func state(of resource: TelemetryResource) -> StatementArguments {
        StatementArguments(SenderText.state.map { $0.value(of: resource) ?? "" }) + [resource.rules ?? 0]
    }

    static func find(_ id: Int64, in db: Database) throws -> TelemetryResource? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM resource WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id]).map(decode)
    }

    static func decode(_ row: Row) -> TelemetryResource {
        var resource = TelemetryResource(service: "", instance: "")
        for text in SenderText.identity + SenderText.state { text.set(row[text.column], of: &resource) }
        let rules: Int = row["rules"]
        resource.rules = rules > 0 ? rules : nil
        return resource
    }
}

/// The writer's cache of each sender's row, with its last hour. It may be wrong after the expiry of a sender; ``ResourceRows`` checks
/// it.
final class WriterResources: Sendable {
    /// The largest number of senders. Past it the cache is emptied, and senders are looked up as they come. They take at most 20
    /// MB, and usually a quarter of that.
    private static let maxResources = 10_000
    /// The largest size of a sender's texts, in bytes. A sender with longer texts is looked up each time.
    private static let maxBytes = 1024

    private let rows = Mutex<[TelemetryResource: (id: Int64, hour: Int64)]>([:])

    func find(_ resource: TelemetryResource) -> (id: Int64, hour: Int64)? {
        rows.withLock { $0[resource] }
    }

    func keep(_ id: Int64, hour: Int64, of resource: TelemetryResource) {
        guard resource.textBytes <= Self.maxBytes else { return }
        rows.withLock { rows in
            if rows.count >= Self.maxResources { rows = [:] }
            rows[resource] = (id, hour)
        }
    }

    /// Forgets all rows, because a transaction that wrote some of them was rolled back.
    func removeAll() { rows.withLock { $0 = [:] } }
}

extension TelemetryResource {
    /// The memory that an attribute takes in a dictionary, apart from its texts, in bytes.
    private static let attributeBytes = 64

    fileprivate var textBytes: Int {
        (SenderText.identity + SenderText.state).reduce(0) { $0 + ($1.value(of: self)?.utf8.count ?? 0) }
            + attributes.reduce(0) { $0 + Self.attributeBytes + $1.key.utf8.count + $1.value.utf8.count }
    }
}
