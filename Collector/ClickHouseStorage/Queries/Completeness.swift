import MartletStorage
import MartletTelemetry

/// Computes the share of a window's requests that arrived, from the senders' ledgers: see ``InstanceReadings``.
enum Completeness {
    /// Returns the account of the senders that a filter selects.
    static func account(
        in window: TimeWindow, _ filter: RequestFilter, _ client: ClickHouseClient
    ) async throws -> WindowAccount {
        let senders = try await self.senders(with: filter, in: window, client)
        let nearby = try await LedgerSource(around: window, client)
        var found = try await readings(in: window, nearby, where: filter.conditionOnSender, client)
        // These senders have no readings around the window, or a gap that reaches into it, so all of their readings are
        // searched.
        let open = senders.filter { id, sender in
            guard let one = found[id] else { return true }
            return (one.before == nil && sender.first <= Int64(clamping: window.from))
                || (one.after == nil && sender.last > Int64(clamping: window.to)) || one.first.time == 0
        }
        if !open.isEmpty {
            let ids = "sender IN \(SQLText.list(open.map(\.key).sorted()))"
            let (first, last) = (open.map(\.value.first).min() ?? 0, open.map(\.value.last).max() ?? 0)
            let source = try await LedgerSource(
                from: UInt32(hourOf: first), through: UInt32(hourOf: last), for: window, client)
            for (id, one) in try await readings(in: window, source, where: ids, client) { found[id] = one }
        }
        var account = WindowAccount(window)
        for id in found.keys.sorted() {
            guard let one = found[id], one.first.time > 0, one.began(before: window) else { continue }
            account.add(one, of: senders[id]?.service ?? "")
        }
        account.sharedSenders = try await sharedSenders(in: window, filter, client)
        account.clocksAhead = try await clocksAhead(in: window, filter, client)
        return account
    }

    /// Returns how far clocks are ahead, for the selected senders that may have requests in the window.
    private static func clocksAhead(
        in window: TimeWindow, _ filter: RequestFilter, _ client: ClickHouseClient
    ) async throws -> WindowAccount.ClocksAhead {
        try await client.rows(
            ["senders": "count()", "longest": "max(ahead)"],
            """
            FROM (SELECT min(first_seen) AS first, max(last_end) AS latest, \
            latest - max(last_seen) AS ahead \(filter.senders(after: Int64(clamping: window.from))) GROUP BY id) \
            WHERE first <= \(Int64(clamping: window.to)) AND latest >= \(Int64(clamping: window.from)) \
            AND ahead > \(WindowAccount.ClocksAhead.tolerance)
            """
        ) {
            WindowAccount.ClocksAhead(
                senders: Int(clamping: try $0.number("senders", UInt64.self)), longest: try $0.time("longest"))
        }.first ?? WindowAccount.ClocksAhead()
    }

    /// Returns the number of selected senders with points in the window's hours that several processes share.
    private static func sharedSenders(
        in window: TimeWindow, _ filter: RequestFilter, _ client: ClickHouseClient
    ) async throws -> Int {
        let (from, to) = (UInt32(hourOf: Int64(clamping: window.from)), UInt32(hourOf: Int64(clamping: window.to)))
        let count: UInt64? = try await client.number(
            "uniqExact(sender)",
            """
            FROM shared_sender WHERE hour BETWEEN \(from) AND \(to) \
            AND \(filter.conditionOnSender)
            """)
        return Int(clamping: count ?? 0)
    }

    private typealias Sender = (service: String, first: Int64, last: Int64)

    /// Returns the service, the first and the last reading of each sender with a reading after the window's start.
    private static func senders(
        with filter: RequestFilter, in window: TimeWindow, _ client: ClickHouseClient
    ) async throws -> [UInt64: Sender] {
        let rows = try await client.rows(
            [
                "id": "id", "service": "any(service)", "first": "minIf(first_reading, first_reading > 0)",
                "last": "max(last_reading) AS l",
            ],
            """
            \(filter.senders(after: Int64(clamping: window.from))) GROUP BY id HAVING l > \(Int64(clamping: window.from))
            """
        ) { row in
            let sender: Sender = (try row.text("service"), try row.number("first"), try row.number("last"))
            return (try row.number("id", UInt64.self), sender)
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// Returns the readings of each sender that matches a condition.
    private static func readings(
        in window: TimeWindow, _ source: LedgerSource, where condition: String, _ client: ClickHouseClient
    ) async throws -> [UInt64: InstanceReadings] {
        let rows = try await client.rows(
            InstanceReadings.columns(from: Int64(clamping: window.from), to: Int64(clamping: window.to)),
            "FROM (\(source.rows(where: condition))) GROUP BY sender"
        ) { (try $0.number("sender", UInt64.self), try InstanceReadings(&$0)) }
        return Dictionary(rows) { first, _ in first }
    }
}

extension WindowAccounts {
    /// Returns the account of the senders that the filter selects.
    mutating func account(
        in window: TimeWindow, _ filter: RequestFilter, _ client: ClickHouseClient
    ) async throws -> WindowAccount {
        if let known = known(in: window, filter) { return known }
        let account = try await Completeness.account(in: window, filter.ofSenders, client)
        note(account, of: filter)
        return account
    }
}

extension LedgerSource {
    /// How far around a window to look for readings first. A running sender has at least one in each hour.
    private static let near: UnixNanoseconds = 3600 * 1_000_000_000

    fileprivate init(around window: TimeWindow, _ client: ClickHouseClient) async throws {
        let first = window.from - min(window.from, Self.near)
        let (last, isPastAllTime) = window.to.addingReportingOverflow(Self.near)
        try await self.init(
            from: UInt32(hourOf: Int64(clamping: first)),
            through: UInt32(hourOf: isPastAllTime ? .max : Int64(clamping: last)), for: window, client)
    }
}

extension InstanceReadings {
    /// The expressions that pick a sender's readings in a window and next to it.
    fileprivate static func columns(from: Int64, to: Int64) -> Selection {
        let (later, inside) = ("t > \(from)", "t > \(from) AND t <= \(to)")
        let (earlier, after) = ("t <= \(from)", "t > \(to)")
        return [
            "sender": "sender",
            "has_first": "countIf(\(later))", "first": "minIf(t, \(later))", "first_gap": "argMinIf(u, t, \(later))",
            "first_age": "argMinIf(a, t, \(later))", "first_captured": "argMinIf(c, t, \(later))",
            "first_requests": "argMinIf(r, t, \(later))",
            "has_last": "countIf(\(inside))", "last": "maxIf(t, \(inside))", "last_gap": "maxIf(u, \(inside))",
            "arrived": "sumIf(r, \(inside))", "captured": "maxIf(c, \(inside))",
            "has_before": "countIf(\(earlier))", "before": "maxIf(t, \(earlier))",
            "before_gap": "argMaxIf(u, t, \(earlier))", "before_captured": "argMaxIf(c, t, \(earlier))",
            "has_after": "countIf(\(after))", "after": "minIf(t, \(after))", "after_gap": "argMinIf(u, t, \(after))",
        ]
    }

    /// The time of ``first`` is 0 if there is no reading after the window's start.
    fileprivate init(_ row: inout RowReader) throws {
        let first = try Self.reading("first", &row) ?? WindowAccount.Reading(time: 0, unwatched: 0)
        self.init(
            arrived: try row.double("first_requests"), captured: try row.double("first_captured"), first: first,
            firstAge: try row.double("first_age"), last: first)
        if let last = try Self.reading("last", &row) {
            (arrived, captured, self.last) = (try row.double("arrived"), try row.double("captured"), last)
        }
        before = try Self.reading("before", &row).map { (captured: try row.double("before_captured"), reading: $0) }
        after = try Self.reading("after", &row)
    }

    private static func reading(_ name: String, _ row: inout RowReader) throws -> WindowAccount.Reading? {
        guard try row.number("has_\(name)", UInt64.self) > 0 else { return nil }
        return WindowAccount.Reading(
            time: Double(try row.number(name, Int64.self)), unwatched: try row.double("\(name)_gap"))
    }

    /// Whether the instance may have begun before the window's end. An instance without an age counts as begun in the hour of its
    /// first reading, because merged batches and thinned ledgers have at least one reading in each hour.
    fileprivate func began(before window: TimeWindow) -> Bool {
        if before != nil { return true }
        let time = Int64(first.time)
        let start = firstAge > 0 ? first.time - firstAge : Double(Int64(UInt32(hourOf: time)) * StoredHour.length)
        return start < Double(Int64(clamping: window.to))
    }
}
