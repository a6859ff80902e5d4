import MartletStorage

/// The readings of senders' ledgers in some hours: the first and the last of an hour where it has been built, and all of them in
/// other hours.
///
/// Each batch brings a reading, so there are hundreds of times as many.
struct LedgerSource {
    /// The readings of a sender in batches with the same time are one reading: the latest account with the sum of their requests.
    private static let columns = """
        sender, time AS t, max(toFloat64(captured)) AS c, sum(toFloat64(requests)) AS r, max(toFloat64(age)) AS a, \
        max(toFloat64(unwatched)) AS u
        """

    private let first: UInt32
    private let last: UInt32
    /// The hours that are read from `ledger_hour`.
    private let built: [UInt32]

    /// - Parameters:
    ///   - first: the first hour.
    ///   - last: the last hour.
    ///   - window: a window whose edges divide hours of which all readings are needed.
    init(
        from first: UInt32, through last: UInt32, for window: TimeWindow? = nil, _ client: ClickHouseClient
    ) async throws {
        let divided = [window?.from, window?.to].compactMap(\.self).map { Int64(clamping: $0) }
            .filter { $0 % StoredHour.length != 0 }.map { UInt32(hourOf: $0) }
        (self.first, self.last) = (first, last)
        built = try await Self.built(first, last, client).filter { !divided.contains($0) }
    }

    /// Returns the hours that have been built, in ascending order. Whole ones are read even if readings have come since: these are
    /// a sender's mistake, because it has no batch of that age.
    private static func built(
        _ first: UInt32, _ last: UInt32, _ client: ClickHouseClient
    ) async throws -> [UInt32] {
        let (condition, none) = ("WHERE hour BETWEEN \(first) AND \(last) GROUP BY hour", "toUInt64(0)")
        let lists = [
            "SELECT hour, sum(if(metrics = 1, revision, 0)) AS r, \(none) AS e, \(none) AS w FROM changed_hour FINAL \(condition)",
            "SELECT hour, \(none) AS r, max(revision) AS e, \(none) AS w FROM early_version_hour \(condition)",
            "SELECT hour, \(none) AS r, \(none) AS e, max(revision) AS w FROM whole_version_hour \(condition)",
        ]
        return try await client.numbers(
            "hour",
            """
            FROM (\(lists.joined(separator: " UNION ALL "))) GROUP BY hour \
            HAVING (sum(r) > 0 AND sum(r) = sum(e)) OR sum(w) > 0 ORDER BY hour
            """)
    }

    /// Returns SELECT statements, joined by UNION ALL, for the readings that match a condition on the sender. Their columns are the
    /// sender, and the time, the captured requests, those in batches, the age and the time without capture at `t`.
    func rows(where condition: String) -> String {
        var parts: [String] = []
        let others = PointSource.hours(from: Int64(first), through: Int64(last), without: built)
        if let others = others ?? (built.isEmpty ? "0" : nil) {
            parts.append(
                "SELECT \(Self.columns) FROM ledger FINAL WHERE \(others) AND \(condition) GROUP BY sender, time")
        }
        if !built.isEmpty {
            let built = "FROM ledger_hour FINAL WHERE hour IN \(SQLText.list(built.map(UInt64.init))) AND \(condition)"
            parts += [
                """
                SELECT sender, first_time AS t, first_captured AS c, first_requests AS r, first_age AS a, \
                first_unwatched AS u \(built)
                """,
                """
                SELECT sender, time AS t, captured AS c, requests - first_requests AS r, toFloat64(0) AS a, \
                unwatched AS u \(built) AND time > first_time
                """,
            ]
        }
        return parts.joined(separator: " UNION ALL ")
    }

    /// Returns the statements that build an hour.
    ///
    /// - Parameter maxRows: the approximate number of readings in one statement.
    static func statements(
        for hour: Int64, maxRows: UInt64, _ client: ClickHouseClient
    ) async throws -> [String] {
        let count = UInt64(try await client.count("FROM ledger WHERE hour = \(hour)"))
        guard count > 0 else { return [] }
        // Senders are hashes, so ranges of equal length have about as many readings each.
        let parts = count / max(1, maxRows) + 1
        let length = UInt64.max / parts
        let columns: Selection = [
            "hour": "toUInt32(\(hour))", "sender": "sender", "batches": "sum(n)", "first_time": "min(t)",
            "first_captured": "argMin(c, t)", "first_requests": "argMin(r, t)", "first_age": "argMin(a, t)",
            "first_unwatched": "argMin(u, t)", "time": "max(t)", "captured": "max(c)", "requests": "sum(r)",
            "unwatched": "max(u)",
        ]
        return (0..<parts).map { part in
            let last = part + 1 == parts ? .max : part * length + (length - 1)
            return """
                \(columns.insert(into: Schema.ledgerHour)) \
                FROM (SELECT \(Self.columns), count() AS n FROM ledger FINAL \
                WHERE hour = \(hour) AND sender BETWEEN \(part * length) AND \(last) GROUP BY sender, time) GROUP BY sender
                """
        }
    }
}
