import MartletPoints
import MartletStorage
import MartletTelemetry

/// The copy of a file into a store on ClickHouse.
///
/// A row's identity is that of its file and its number there. So a part that is copied again replaces itself, and figures that
/// collectors store meanwhile are added to it. The store remembers how far the copy has got, and the two things that must not
/// change until its end: the file, and the time up to which there are hours alone.
package struct ClickHouseCopy: Sendable {
    /// The time up to which the store has figures by the hour alone, in nanoseconds since 1970.
    package let hoursUntil: Int64
    private let client: ClickHouseClient
    /// The identity of the file.
    private let source: String
    private let limits = ClickHouseLimits()
    private let changedHours = ChangedHours()
    /// The collector's clock.
    private let now: @Sendable () -> UnixNanoseconds

    /// Begins the copy, or goes on with one that was interrupted. Throws ``StorageFailure`` if the tables are missing, older or newer,
    /// or if an interrupted copy cannot go on, and an error if no server answers.
    ///
    /// - Parameters:
    ///   - source: the identity of the file.
    ///   - fingerprint: a number that changes whenever the file does.
    package init(
        of source: String, _ fingerprint: Int64, to location: ClickHouseLocation, _ credentials: ClickHouseCredentials,
        now: @escaping @Sendable () -> UnixNanoseconds
    ) async throws {
        client = try await ClickHouseClient(location, credentials, timeout: limits.answerTime)
        _ = try await Migration.check(client)
        self.source = source
        self.now = now
        if let begun = try await Self.number(.fingerprint, source, client) {
            guard begun == fingerprint else {
                throw StorageFailure("the file was used since its copy began; \(Self.remedy)")
            }
            hoursUntil = try await Self.number(.hours, source, client) ?? 0
            try await checkHours()
        } else {
            hoursUntil = try await Self.firstHours(client, now: now(), limits)
            try await Self.note(hoursUntil, as: .hours, source, client)
            try await Self.note(fingerprint, as: .fingerprint, source, client)
        }
    }

    /// Returns the number of the last row of a table that was copied; 0 before the first.
    package func position(in table: CopiedTable) async throws -> Int64 {
        try await Self.number(.table(table), source, client) ?? 0
    }

    /// Stores a part, and the number of its last row after it. Throws ``StorageFailure`` if collectors have made hours since the copy
    /// began.
    package func store(_ part: CopiedPart, of table: CopiedTable) async throws {
        try await checkHours()
        var rows = CopiedRows(of: source, hoursUntil: UInt32(clamping: hoursUntil / StoredHour.length))
        switch part.rows {
        case .batches(let batches): for one in batches { rows.add(one) }
        case .senders(let senders):
            let now = now()
            for one in senders { rows.add(one, streamsSince: now - min(now, limits.cumulativeAge)) }
        case .points(let points):
            for one in points { rows.add(one) }
        case .details(let details): for one in details { try rows.add(one) }
        case .calls(let calls):
            let oldest = Int64(clamping: now()) - limits.retention.age(.hour)
            for one in calls { rows.add(one, since: oldest) }
        }
        try await client.insert(changedHours.rows(of: rows.changes))
        for table in rows.tables { try await client.insert(table) }
        try await checkHours()
        try await Self.note(part.last, as: .table(table), source, client)
    }

    // MARK: Hours

    /// Points that come into a week whose points became hours may count no more: see docs/clickhouse.md.
    private func checkHours() async throws {
        guard Int64(try await client.rolledHours()) * StoredHour.length == hoursUntil else {
            throw StorageFailure("collectors have made hours in ClickHouse since the copy began; \(Self.remedy)")
        }
    }

    private static let remedy = "copy it into a new database"

    /// Returns the time up to which the store has hours alone. An empty store gets the time that its first collector would set.
    private static func firstHours(
        _ client: ClickHouseClient, now: UnixNanoseconds, _ limits: ClickHouseLimits
    ) async throws -> Int64 {
        let rolled = Int64(try await client.rolledHours()) * StoredHour.length
        let points = try await client.rows("SELECT toUInt8(1) FROM point LIMIT 1") { try $0.number(UInt8.self) }
        guard rolled == 0, points.isEmpty else { return rolled }
        let oldest = max(0, Int64(clamping: now) - limits.rawAge) / StoredHour.length
        let until = oldest / Schema.hoursOfPart * Schema.hoursOfPart
        try await client.run("INSERT INTO rolled (until) VALUES (\(until))")
        return until * StoredHour.length
    }

    // MARK: Progress

    /// A number that the store remembers of a copy.
    private enum Note {
        case fingerprint
        case hours
        case table(CopiedTable)

        var name: String {
            switch self {
            case .fingerprint: "fingerprint"
            case .hours: "hours"
            case .table(let table): table.rawValue
            }
        }
    }

    private static func number(_ note: Note, _ source: String, _ client: ClickHouseClient) async throws -> Int64? {
        try await client.rows(
            "SELECT position FROM copied FINAL WHERE source = \(SQLText.quoted(source)) AND contents = '\(note.name)'"
        ) { try $0.number(Int64.self) }.first
    }

    private static func note(
        _ number: Int64, as note: Note, _ source: String, _ client: ClickHouseClient
    ) async throws {
        var rows = TableRows(Schema.copied)
        rows.append { row in
            row.text(source)
            row.text(note.name)
            row.number(number)
        }
        try await client.insert(rows)
    }
}
