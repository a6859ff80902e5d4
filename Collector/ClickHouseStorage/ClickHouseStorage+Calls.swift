import MartletStorage
import MartletTelemetry

/// The calls between services: those that kept spans show, and those remembered from deleted spans.
extension ClickHouseStorage {
    package func calls(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int
    ) async throws -> Set<ObservedCall> {
        try await keptCalls(in: window, filter, limit: limit)
            .union(rememberedCalls(in: window, filter, limit: limit))
    }

    /// Returns the calls that kept spans show.
    private func keptCalls(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int
    ) async throws -> Set<ObservedCall> {
        let served = """
            FROM detail FINAL WHERE kind = 'server' AND parent > 0 AND start_ns > \(Int64(clamping: window.from)) \
            AND start_ns <= \(Int64(clamping: window.to)) AND \(window.days) AND \(filter.senderCondition) \
            ORDER BY start_ns DESC, stored DESC, identity DESC LIMIT \(limit)
            """
        // This condition finds the callers' spans by the table's key. A JOIN without it would read all kept spans.
        let called = "(trace_low, trace_high, span) IN (SELECT trace_low, trace_high, parent \(served))"
        let rows = try await client.rows(
            CallSighting.ends, CallSighting.join(of: served, where: called), distinct: true
        ) { try $0.observedCall() }
        return Set(rows)
    }

    /// Returns the calls observed on the days of a window. If there are more than the limit, it returns those of the latest days.
    private func rememberedCalls(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int
    ) async throws -> [ObservedCall] {
        guard !filter.selectsProcesses else { return [] }
        return try await client.rows(
            CallSighting.columns,
            """
            FROM observed_call WHERE \(window.days) AND \(filter.senderCondition) \
            GROUP BY caller, called_host, service, served_host ORDER BY max(day) DESC LIMIT \(limit)
            """
        ) { try $0.observedCall() }
    }

    /// Stores the calls in the traces of spans that arrived since the previous pass.
    func rememberCalls() async throws {
        let time = now()
        let before = rememberedTime.load(ordering: .relaxed)
        let found = try await CallSighting.find(
            since: before - min(before, limits.callSettling),
            oldestDay: UInt32(dayOf: Int64(clamping: time) - Int64(clamping: limits.detailAge)), limits, client)
        try await client.insert(CallSighting.rows(of: found, atMost: limits.maxObservedCalls, client))
        rememberedTime.store(time, ordering: .relaxed)
    }
}

/// A call with the environment of the callee and the day on which its span started: a row of `observed_call`.
struct CallSighting: Hashable {
    var day: UInt32
    var environment: String
    var call: ObservedCall

    /// The two ends of a call, as columns of joined spans. ``columns`` has the same for `observed_call`.
    static let ends: Selection = ["caller", "called", "callee", "served"]
    static let columns: Selection = [
        "caller": "caller", "called": "called_host", "callee": "service", "served": "served_host",
    ]

    /// Finds the calls in the traces of spans that arrived after a time. Leaves out spans of days that are being dropped.
    static func find(
        since time: UInt64, oldestDay: UInt32, _ limits: ClickHouseLimits, _ client: ClickHouseClient
    ) async throws -> [CallSighting] {
        let traces = """
            (trace_low, trace_high) IN (SELECT trace_low, trace_high FROM detail WHERE kind != '' AND day >= \(oldestDay) \
            AND stored > \(Int64(clamping: time)) ORDER BY stored DESC LIMIT \(limits.maxCallSpans))
            """
        let columns = """
            , environment, toUInt32(intDiv(greatest(least(start_ns, stored), 0), \(StoredDay.length))) AS start_day
            """
        let served = "FROM detail FINAL WHERE kind = 'server' AND parent > 0 AND day >= \(oldestDay) AND \(traces)"
        // Only one span per id is used, because senders may give many spans the same id.
        let join = join(of: served, columns, where: "\(traces) LIMIT 1 BY trace_low, trace_high, call")
        return try await client.rows(
            ["day": "start_day", "environment": "environment"] + ends, "\(join) LIMIT \(limits.maxObservedCalls)",
            distinct: true
        ) { try $0.callSighting() }
    }

    /// Returns the join of callees' spans with the spans of their callers, from FROM on.
    ///
    /// - Parameters:
    ///   - served: the callees' spans, from FROM on.
    ///   - columns: further columns of these spans, beginning with a comma.
    ///   - called: the condition on the callers' spans.
    fileprivate static func join(of served: String, _ columns: String = "", where called: String) -> String {
        let host = Dimension.host.expression
        return """
            FROM (SELECT trace_low, trace_high, parent AS call, service AS callee, \(host) AS served\(columns) \(served)) \
            AS served_spans ALL INNER JOIN (\
            SELECT trace_low, trace_high, span AS call, service AS caller, \(host) AS called FROM detail FINAL \
            WHERE kind = 'client' AND \(called)) \
            AS client_spans USING (trace_low, trace_high, call) WHERE caller != callee
            """
    }

    /// Returns the rows of calls that the store does not have yet. The number of calls for one day is limited.
    static func rows(
        of found: [CallSighting], atMost limit: Int, _ client: ClickHouseClient
    ) async throws -> TableRows {
        var rows = TableRows(Schema.observedCall)
        guard !found.isEmpty else { return rows }
        let days = Set(found.map(\.day)).map(String.init).joined(separator: ", ")
        let known = Set(
            try await client.rows(
                ["day", "environment"] + columns, "FROM observed_call WHERE day IN (\(days))", distinct: true
            ) { try $0.callSighting() })
        var counts = Dictionary(grouping: known, by: \.day).mapValues(\.count)
        for one in found where !known.contains(one) && counts[one.day, default: 0] < limit {
            counts[one.day, default: 0] += 1
            rows.append(one)
        }
        return rows
    }
}

extension TableRows {
    mutating func append(_ sighting: CallSighting) {
        let call = sighting.call
        append { row in
            row.number(sighting.day)
            for text in [call.callee, sighting.environment, call.servedHost, call.caller, call.calledHost] {
                row.text(text)
            }
        }
    }
}

extension RowReader {
    /// Reads the ends of a call: the caller, the host that it called, the callee, and the host under which it was reached.
    mutating func observedCall() throws -> ObservedCall {
        ObservedCall(
            caller: try text("caller"), calledHost: try text("called"), callee: try text("callee"),
            servedHost: try text("served"))
    }

    fileprivate mutating func callSighting() throws -> CallSighting {
        CallSighting(day: try number("day"), environment: try text("environment"), call: try observedCall())
    }
}
