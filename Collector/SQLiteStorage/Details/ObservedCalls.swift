import GRDB
import MartletStorage
import MartletTelemetry

/// The calls that kept spans show at both ends.
enum ObservedCalls {
    /// Looks up the parents of the window's latest server spans by their traces.
    static func find(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int, in db: Database
    ) throws -> Set<ObservedCall> {
        let (servers, clients) = (SeriesRows.kinds(named: "server"), SeriesRows.kinds(named: "client"))
        let sender: SQL =
            filter.selectsSenders
            ? "resource_id IN (SELECT id FROM resource WHERE \(filter.senderCondition))" : "TRUE"
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT DISTINCT client.service AS caller, client.host AS called, client.port AS called_port,
                    server.service AS callee, server.host AS served, server.port AS served_port
                FROM (
                    SELECT trace_id, parent_span_id, service, host, port FROM detail
                    -- The index of starts is one of requests.
                    WHERE kind != '' AND kind IN \(servers) AND length(parent_span_id) > 0
                        AND start_time > \(Int64(clamping: window.from)) AND start_time <= \(Int64(clamping: window.to))
                        AND \(sender)
                    ORDER BY start_time DESC LIMIT \(limit)
                ) server
                CROSS JOIN detail client ON client.trace_id = server.trace_id
                    AND client.span_id = server.parent_span_id
                WHERE client.kind IN \(clients) AND client.service != server.service
                """
        ).fetchAll(db)
        return Set(rows.map(decode))
    }

    /// Reads the columns of both ends by their names.
    static func decode(_ row: Row) -> ObservedCall {
        ObservedCall(
            caller: row["caller"], calledHost: authority(row["called"], row["called_port"]),
            callee: row["callee"], servedHost: authority(row["served"], row["served_port"]))
    }

    private static func authority(_ host: String, _ port: Int) -> String {
        RequestDimensions(kind: .client, method: "", host: host, port: port, endpoint: "", status: nil, error: nil)
            .authority
    }
}
