import MartletPoints
import MartletStorage
import MartletTelemetry

/// The copy of another store into a store on ClickHouse.
///
/// A row's identity is that of its store and its number there. So a part that is copied again replaces itself, and figures that
/// collectors store meanwhile are added to it. The store remembers how far the copy has got.
package struct ClickHouseCopy: Sendable {
    /// The time up to which figures are wanted by the hour, because the store had nothing finer when the copy began. In
    /// nanoseconds since 1970.
    package let hoursUntil: Int64
    private let client: ClickHouseClient
    /// The identity of the other store.
    private let source: String
    private let limits = ClickHouseLimits()
    /// The collector's clock.
    private let now: @Sendable () -> UnixNanoseconds

    /// Begins the copy, or goes on with one that was interrupted. Throws ``StorageFailure`` if the tables are missing, older or newer,
    /// and an error if no server answers.
    ///
    /// - Parameter source: the identity of the other store.
    package init(
        of source: String, to location: ClickHouseLocation, _ credentials: ClickHouseCredentials,
        now: @escaping @Sendable () -> UnixNanoseconds
    ) async throws {
        client = try await ClickHouseClient(location, credentials, timeout: limits.answerTime)
        _ = try await Migration.check(client)
        self.source = source
        self.now = now
        let begun = try await Self.position(of: Self.hours, source, client)
        let rolled = try await Self.rolledUntil(client)
        if begun == nil { try await Self.note(rolled, of: Self.hours, source, client) }
        hoursUntil = begun ?? rolled
    }

    /// Returns the number of the last row of a table that was copied; 0 before the first.
    package func position(in table: CopiedTable) async throws -> Int64 {
        try await Self.position(of: table.rawValue, source, client) ?? 0
    }

    /// Stores a part, and the number of its last row after it.
    package func store(_ part: CopiedPart, of table: CopiedTable) async throws {
        let hours = try await Self.rolledUntil(client) / StoredHour.length
        var rows = CopiedRows(of: source, hoursUntil: UInt32(clamping: hours))
        switch part.rows {
        case .batches(let batches): for one in batches { rows.add(one) }
        case .senders(let senders):
            let age = min(now(), limits.cumulativeAge)
            for one in senders { rows.add(one, streamsSince: now() - age) }
        case .points(let points): for one in points { rows.add(one) }
        case .details(let details): for one in details { try rows.add(one) }
        }
        for table in rows.tables { try await client.insert(table) }
        try await Self.note(part.last, of: table.rawValue, source, client)
    }

    /// The name of the row that has ``hoursUntil``.
    private static let hours = "hours"

    private static func rolledUntil(_ client: ClickHouseClient) async throws -> Int64 {
        let hours = try await client.rows("SELECT max(until) FROM rolled") { try $0.number(UInt32.self) }.first ?? 0
        return Int64(hours) * StoredHour.length
    }

    private static func position(
        of contents: String, _ source: String, _ client: ClickHouseClient
    ) async throws -> Int64? {
        try await client.rows(
            """
            SELECT max(position) FROM copied WHERE source = \(SQLText.quoted(source)) AND contents = '\(contents)' \
            GROUP BY contents
            """
        ) { try $0.number(Int64.self) }.first
    }

    private static func note(
        _ position: Int64, of contents: String, _ source: String, _ client: ClickHouseClient
    ) async throws {
        var rows = TableRows(Schema.copied)
        rows.append { row in
            row.text(source)
            row.text(contents)
            row.number(position)
        }
        try await client.insert(rows)
    }
}
