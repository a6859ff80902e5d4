import MartletStorage
import MartletTelemetry

@testable import MartletReports

/// A map with every kind of edge: lost requests, a proxy, two callers of one host, a host of several services, a database, callers
/// without an agent, requests that the other side did not count, and hostile names.
enum SampleMap {
    static let report = MapReport(
        from: "2026-11-21T09:00:00Z", to: "2026-11-21T10:00:00Z", completeness: 0.9987, clocksAhead: nil,
        lastSeen: "2026-11-21T09:59:58Z", edgeCount: edges.count + 2, edges: edges)

    static var context: ReportContext {
        var context = ReportContext()
        context.flags = [
            CommandFlag("since", "1h"), CommandFlag("environment", "production"), CommandFlag("top", "\(edges.count)"),
            CommandFlag("collector", "http://127.0.0.1:4318"),
        ]
        context.now = TimeText.parse("2026-11-21T10:00:00Z", now: 0)
        return context
    }

    private static let edges = CallGraph(groups, calls, seconds: 3600).edges

    private static let calls: Set = [
        ObservedCall(caller: "storefront", calledHost: "proxy:80", callee: "reviews", servedHost: "10.0.0.1:8443")
    ]

    private static let groups = [
        requests("storefront", .client, "payments.internal:443", 2_700),
        requests("storefront", .client, "payments.internal:443", 30, status: 503, error: "503"),
        requests("storefront", .client, "payments.internal:443", 300, status: nil, error: "connection_refused"),
        requests("storefront", .client, "payments.internal:443", 12, status: nil, error: "dns"),
        requests("storefront", .client, "payments.internal:443", 7, status: nil, error: "timeout"),
        requests("desk", .client, "payments.internal:443", 41),
        requests("payments", .server, "payments.internal:443", 2_771),
        requests("storefront", .client, "proxy:80", 900), requests("reviews", .server, "10.0.0.1:8443", 850),
        requests("payments", .client, "acquirer.example:443", 240),
        requests("payments", .client, "acquirer.example:443", 18, status: 500, error: "500"),
        requests("storefront", .server, "shop.example:443", 4_000),
        requests("storefront", .client, "db.internal:5432", 10, status: nil, system: "postgresql"),
        requests("storefront", .client, "gate:443", 10), requests("stock", .server, "gate:443", 6),
        requests("mail", .server, "gate:443", 4), requests("desk", .client, "", 2),
        requests("-sum(A1)", .client, "<b>evil|\u{202e}host</b>\n", 1),
    ]

    private static func requests(
        _ service: String, _ kind: RequestKind, _ host: String, _ count: Int, status: Int? = 200, error: String? = nil,
        system: String? = nil
    ) -> RequestGroup {
        let durations = (0..<count).map { 0.02 + Double($0 % 100) / 500 }
        return CallBatch.group(service, kind, host, durations, status: status, error: error, system: system)
    }
}
