import GRDB
import MartletStorage
import MartletTelemetry

/// The calls that kept spans show at both ends.
enum ObservedCalls {
    /// Looks up the parents of the window's latest server spans by trace.
    static func find(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int, in db: Database
    ) throws -> Set<ObservedCall> {
        let (servers, clients) = (SeriesRows.kinds(named: "server"), SeriesRows.kinds(named: "client"))
        let sender: SQL =
            filter.selectsSenders
            ? "resource_id IN (SELECT id FROM resource WHERE \(filter.senderCondition))" : "TRUE"
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT DISTINCT \(ends) FROM (
                    SELECT trace_id, parent_span_id, service, host, port FROM detail
                    -- The index of starts is one of requests.
                    WHERE kind != '' AND kind IN \(servers) AND length(parent_span_id) > 0
                        AND start_time > \(Int64(clamping: window.from)) AND start_time <= \(Int64(clamping: window.to))
                        AND \(sender)
                    ORDER BY start_time DESC LIMIT \(limit)
                ) server \(join)
                WHERE client.kind IN \(clients) AND client.service != server.service
                """
        ).fetchAll(db)
        return Set(rows.map(decode))
    }

    /// Reads the columns of both ends by their names.
    static func decode(_ row: Row) -> ObservedCall {
        ObservedCall(
            caller: row["caller"], calledHost: RequestDimensions.authority(row["called"], row["called_port"]),
            callee: row["callee"], servedHost: RequestDimensions.authority(row["served"], row["served_port"]))
    }

    /// The columns of both ends, for ``decode(_:)``.
    static let ends: SQL = """
        client.service AS caller, client.host AS called, client.port AS called_port,
        server.service AS callee, server.host AS served, server.port AS served_port
        """

    /// Joins the span of a server with the span of its caller.
    static let join: SQL = """
        CROSS JOIN detail client ON client.trace_id = server.trace_id AND client.span_id = server.parent_span_id
        """
}

/// The calls that some spans belong to, with the times at which kept spans show these calls.
struct CallSightings {
    /// The largest number of spans that one step looks at. The step also reads all other spans of their traces.
    private static let maxSpans = 2_000
    /// The largest number of pairs of a span and its caller that one step compares, because senders may give many spans the same
    /// id.
    private static let maxPairs = 50_000

    let calls: [RememberedCall]
    /// The number of the last span that this step looked at.
    let last: Int64

    /// Looks at the spans that follow `span`; `nil` if there are none.
    init?(after span: Int64, in db: Database) throws {
        let page = try db.cachedStatement(
            sql: "SELECT max(id) FROM (SELECT id FROM detail WHERE id > ? ORDER BY id LIMIT \(Self.maxSpans))")
        guard let last = try Int64.fetchOne(page, arguments: [span]) else { return nil }
        let (servers, clients) = (SeriesRows.kinds(named: "server"), SeriesRows.kinds(named: "client"))
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT caller, called, called_port, callee, served, served_port, environment,
                    min(time) AS first, max(time) AS last
                FROM (
                    SELECT \(ObservedCalls.ends), client.kind AS kind, sender.environment AS environment,
                        min(server.start_time, server.received) AS time
                    FROM (SELECT DISTINCT trace_id FROM detail WHERE id > \(span) AND id <= \(last)) trace
                    CROSS JOIN detail server ON server.trace_id = trace.trace_id
                    \(ObservedCalls.join)
                    CROSS JOIN resource sender ON sender.id = server.resource_id
                    WHERE server.kind IN \(servers) AND length(server.parent_span_id) > 0 LIMIT \(Self.maxPairs)
                ) pair
                WHERE kind IN \(clients) AND caller != callee
                GROUP BY caller, called, called_port, callee, served, served_port, environment
                """
        ).fetchAll(db)
        self.last = last
        calls = rows.map { row in
            RememberedCall(
                ObservedCalls.decode(row), environment: row["environment"], first: row["first"], last: row["last"])
        }
    }
}

/// The remembered calls.
enum ObservedCallRows {
    private typealias Column = NamedColumn<RememberedCall>

    private static let insertion = RowInsertion(
        into: "observed_call",
        [
            Column("service") { $0.call.callee }, Column("environment") { $0.environment },
            Column("served_host") { $0.call.servedHost }, Column("caller") { $0.call.caller },
            Column("called_host") { $0.call.calledHost }, Column("first_time") { $0.first },
            Column("last_time") { $0.last },
        ],
        onConflict: """
            ON CONFLICT (service, environment, served_host, caller, called_host) DO UPDATE SET
            first_time = min(first_time, excluded.first_time), last_time = max(last_time, excluded.last_time)
            """)

    /// Adds calls, or updates the times of known ones. Past the limit, deletes the least recently observed calls.
    static func add(_ calls: [RememberedCall], atMost limit: Int, in db: Database) throws {
        for call in calls { try insertion.insert(call, in: db) }
        try db.cachedStatement(
            sql: """
                DELETE FROM observed_call WHERE id IN (
                    SELECT id FROM observed_call ORDER BY last_time DESC LIMIT -1 OFFSET ?)
                """
        ).execute(arguments: [limit])
    }

    /// Returns the calls that were observed in a window, or both before and after it. If there are more than the limit, it
    /// returns those observed last. Filters for a version or an instance select none, because remembered calls have neither.
    static func find(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int, in db: Database
    ) throws -> Set<ObservedCall> {
        guard !filter.selectsProcesses else { return [] }
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT caller, called_host, service, served_host FROM observed_call
                WHERE last_time > \(Int64(clamping: window.from)) AND first_time <= \(Int64(clamping: window.to))
                    AND \(filter.senderCondition)
                ORDER BY last_time DESC LIMIT \(limit)
                """
        ).fetchAll(db)
        return Set(
            rows.map {
                ObservedCall(
                    caller: $0["caller"], calledHost: $0["called_host"], callee: $0["service"],
                    servedHost: $0["served_host"])
            })
    }
}
