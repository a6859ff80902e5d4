import GRDB
import MartletStorage

/// The calls that some spans belong to, with the times at which kept spans show them.
struct CallSightings {
    /// Spans that one step looks at. All spans of their traces are read.
    private static let maxSpans = 2_000
    /// Spans with their callers that one step compares: senders may give many spans the same id.
    private static let maxPairs = 50_000

    let calls: [RememberedCall]
    /// The number of the last span that was looked at.
    let last: Int64

    /// Looks at the next spans after one; `nil` if there are none.
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
                    SELECT client.service AS caller, client.host AS called, client.port AS called_port, client.kind AS kind,
                        server.service AS callee, server.host AS served, server.port AS served_port,
                        sender.environment AS environment, min(server.start_time, server.received) AS time
                    FROM (SELECT DISTINCT trace_id FROM detail WHERE id > \(span) AND id <= \(last)) trace
                    CROSS JOIN detail server ON server.trace_id = trace.trace_id
                    CROSS JOIN detail client ON client.trace_id = server.trace_id
                        AND client.span_id = server.parent_span_id
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
