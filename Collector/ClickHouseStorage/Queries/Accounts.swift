import MartletStorage
import MartletTelemetry

/// Computes the share of a window's requests that arrived, from the senders' ledgers: see ``InstanceReadings``.
enum Accounts {
    /// The time around a window in which most senders have readings. A running sender has at least one in each hour.
    private static let near: UnixNanoseconds = 3600 * 1_000_000_000

    /// Returns the account of the senders that a filter selects.
    static func account(
        in window: TimeWindow, _ filter: RequestFilter, _ client: ClickHouseClient
    ) async throws -> WindowAccount {
        let senders = try await self.senders(with: filter, in: window, client)
        var found = try await readings(in: window, around: near, of: filter, client)
        // The others were silent around the window, or have a gap that reaches into it.
        let open = senders.filter { id, sender in
            guard let one = found[id] else { return true }
            return (one.before == nil && sender.first <= Int64(clamping: window.from))
                || (one.after == nil && sender.last > Int64(clamping: window.to)) || one.first.time == 0
        }
        if !open.isEmpty {
            let ids = open.map(\.key).sorted()
            for (id, one) in try await readings(in: window, around: nil, of: filter, senders: ids, client) {
                found[id] = one
            }
        }
        var account = WindowAccount(window)
        for id in found.keys.sorted() {
            guard let one = found[id], one.first.time > 0, one.began(before: window) else { continue }
            account.add(one, of: senders[id]?.service ?? "")
        }
        account.clocksAhead = try await clocksAhead(in: window, filter, client)
        return account
    }

    /// Returns how far the clocks are ahead, for senders that may have requests in the window and that the filter selects.
    private static func clocksAhead(
        in window: TimeWindow, _ filter: RequestFilter, _ client: ClickHouseClient
    ) async throws -> WindowAccount.ClocksAhead {
        try await client.rows(
            """
            SELECT count(), max(ahead) FROM (SELECT min(first_seen) AS first, max(last_end) AS latest, \
            latest - max(last_seen) AS ahead FROM sender FINAL WHERE \(filter.senderCondition) GROUP BY id) \
            WHERE first <= \(Int64(clamping: window.to)) AND latest >= \(Int64(clamping: window.from)) \
            AND ahead > \(WindowAccount.ClocksAhead.tolerance)
            """
        ) { row in
            let senders = Int(clamping: try row.number(UInt64.self))
            return WindowAccount.ClocksAhead(senders: senders, longest: UInt64(clamping: try row.number(Int64.self)))
        }.first ?? WindowAccount.ClocksAhead()
    }

    private typealias Sender = (service: String, first: Int64, last: Int64)

    /// Returns the service, the first and the last reading of each sender with a reading after the window's start.
    private static func senders(
        with filter: RequestFilter, in window: TimeWindow, _ client: ClickHouseClient
    ) async throws -> [UInt64: Sender] {
        let rows = try await client.rows(
            """
            SELECT id, any(service), minIf(first_reading, first_reading > 0) AS f, max(last_reading) AS l FROM sender FINAL \
            WHERE \(filter.senderCondition) GROUP BY id HAVING l > \(Int64(clamping: window.from))
            """
        ) { row in
            let id = try row.number(UInt64.self)
            return (id, (try row.text(), try row.number(Int64.self), try row.number(Int64.self)))
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// Returns the readings of each sender.
    ///
    /// - Parameters:
    ///   - distance: how far before and after the window to search; `nil` for all time.
    ///   - senders: the senders to search for; `nil` for those that the filter selects.
    private static func readings(
        in window: TimeWindow, around distance: UnixNanoseconds?, of filter: RequestFilter, senders: [UInt64]? = nil,
        _ client: ClickHouseClient
    ) async throws -> [UInt64: InstanceReadings] {
        let (from, to) = (Int64(clamping: window.from), Int64(clamping: window.to))
        var conditions: [String] = []
        if let distance {
            let first = window.from > distance ? window.from - distance : 0
            let (last, isPastAllTime) = window.to.addingReportingOverflow(distance)
            let hours = (
                StoredHour.of(Int64(clamping: first)), StoredHour.of(isPastAllTime ? .max : Int64(clamping: last))
            )
            conditions.append("hour BETWEEN \(hours.0) AND \(hours.1)")
        }
        if let senders {
            conditions.append("sender IN \(SQLText.list(senders))")
        } else if filter.selectsSenders {
            conditions.append("sender IN (SELECT id FROM sender WHERE \(filter.senderCondition))")
        }
        let condition = conditions.isEmpty ? "1" : conditions.joined(separator: " AND ")
        // Batches of one time form one reading: the later account with the sum of their requests.
        let rows = try await client.rows(
            """
            SELECT sender, countIf(t > \(from)), minIf(t, t > \(from)), argMinIf(a, t, t > \(from)), argMinIf(u, t, t > \(from)), \
            argMinIf(c, t, t > \(from)), argMinIf(r, t, t > \(from)), \
            countIf(t > \(from) AND t <= \(to)), sumIf(r, t > \(from) AND t <= \(to)), maxIf(c, t > \(from) AND t <= \(to)), \
            maxIf(t, t > \(from) AND t <= \(to)), maxIf(u, t > \(from) AND t <= \(to)), \
            countIf(t <= \(from)), maxIf(t, t <= \(from)), argMaxIf(c, t, t <= \(from)), argMaxIf(u, t, t <= \(from)), \
            countIf(t > \(to)), minIf(t, t > \(to)), argMinIf(u, t, t > \(to)) \
            FROM (SELECT sender, time AS t, max(toFloat64(captured)) AS c, sum(toFloat64(requests)) AS r, \
            max(toFloat64(age)) AS a, max(toFloat64(unwatched)) AS u \
            FROM ledger FINAL WHERE \(condition) GROUP BY sender, time) GROUP BY sender
            """
        ) { (try $0.number(UInt64.self), try InstanceReadings(&$0)) }
        return Dictionary(rows) { first, _ in first }
    }
}

extension InstanceReadings {
    /// Reads a row of the statement above. The time of ``first`` is 0 if there is no reading after the window's start.
    fileprivate init(_ reader: inout RowReader) throws {
        let hasFirst = try reader.number(UInt64.self) > 0
        let time = Double(try reader.number(Int64.self))
        let (age, unwatched) = (try reader.double(), try reader.double())
        let (captured, requests) = (try reader.double(), try reader.double())
        let first = WindowAccount.Reading(time: hasFirst ? time : 0, unwatched: unwatched)
        self.init(arrived: requests, captured: captured, first: first, firstAge: age, last: first)
        let isInside = try reader.number(UInt64.self) > 0
        let (arrived, most) = (try reader.double(), try reader.double())
        let last = WindowAccount.Reading(time: Double(try reader.number(Int64.self)), unwatched: try reader.double())
        if isInside { (self.arrived, self.captured, self.last) = (arrived, most, last) }
        let hasBefore = try reader.number(UInt64.self) > 0
        let beforeTime = Double(try reader.number(Int64.self))
        let beforeCaptured = try reader.double()
        let before = WindowAccount.Reading(time: beforeTime, unwatched: try reader.double())
        if hasBefore { self.before = (captured: beforeCaptured, reading: before) }
        let hasAfter = try reader.number(UInt64.self) > 0
        let after = WindowAccount.Reading(time: Double(try reader.number(Int64.self)), unwatched: try reader.double())
        if hasAfter { self.after = after }
    }

    /// Whether the instance may have begun before the window's end. An instance without an age counts as begun in the hour of its
    /// first reading, because merged batches and thinned ledgers have at least one reading in each hour.
    fileprivate func began(before window: TimeWindow) -> Bool {
        if before != nil { return true }
        let time = Int64(first.time)
        let start = firstAge > 0 ? first.time - firstAge : Double(Int64(StoredHour.of(time)) * StoredHour.length)
        return start < Double(Int64(clamping: window.to))
    }
}
