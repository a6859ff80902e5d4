import MartletStorage

@testable import MartletReports

/// One report for every output: clients and servers of two services, ordinary names and hostile ones.
enum SampleReport {
    static let report = Report(
        from: "2026-11-21T09:00:00Z", to: "2026-11-21T10:00:00Z", by: ReportParameter.defaultBy, step: 225,
        completeness: 1, rowCount: 8, rows: rows.indices.map(row),
        totals: total(26_470, failed: 1102, p50: 23.9, p95: 121),
        totalsByKind: [
            .client: total(19_635, failed: 549, hung: 1, cancelled: 3, p50: 14.2, p95: 96),
            .server: total(6835, failed: 553, p50: 97, p95: 950),
        ])

    /// The facts that a terminal shows, two seconds after the window.
    static var context: ReportContext {
        var context = ReportContext()
        context.flags = [CommandFlag("since", "1h"), CommandFlag("environment", "production")]
        context.now = TimeText.parse("2026-11-21T10:00:02Z", now: 0)
        return context
    }

    /// Returns a row with a trend and the time of its latest requests.
    private static func row(_ index: Int) -> ReportRow {
        var row = rows[index]
        let count = (0..<16).map { slot in UInt64(10 + (slot * (index + 3)) % 11) }
        row.trend = ReportRow.Trend(
            count: index == 4 ? [0, 2] : count, failed: index == 4 ? [0, 1] : count.map { $0 / 10 })
        let now = TimeText.parse("2026-11-21T10:00:02Z", now: 0) ?? 0
        row.lastSeen = TimeText.format(now - [2, 19, 4, 130, 7300, 200_000, 1, 3][index] * 1_000_000_000)
        return row
    }

    private static func total(
        _ count: UInt64, failed: UInt64, hung: UInt64 = 0, cancelled: UInt64 = 0, p50: Double, p95: Double
    ) -> ReportRow {
        ReportRow(
            dimensions: [:],
            measures: measures(count, failed: failed, hung: hung, cancelled: cancelled, p50: p50, p95: p95),
            lastSeen: "2026-11-21T10:00:00Z")
    }

    static let hostileHost = "evil\u{202e}moc.\u{200b}live|`<b>`"
    static let hostileEndpoint = "=cmd|'/C calc'!A0\r\n\u{1b}[2J<script>alert(1)</script> @team http://x.example **b**"

    private static let rows = [
        row(
            "storefront", "POST", "payments.internal:443", "/payments", measures(2800, failed: 233, p50: 88.5, p95: 811)
        ),
        row("payments", "POST", "acquirer.example:443", "/charges", measures(2763, failed: 196, p50: 68.7, p95: 795)),
        row(
            "storefront", "GET", "catalog.internal:443", "/products/{product}/reviews",
            measures(5600, failed: 118, hung: 1, p50: 18, p95: 67.6)),
        row("storefront", "GET", "catalog.internal:443", "/商品/{id}", measures(8447, failed: 1, p50: 0.219, p95: 9.61)),
        row(
            "-sum(A1)", "GET", hostileHost, hostileEndpoint,
            measures(24, failed: 1, cancelled: 3, p50: 1e16, p95: 1e300)),
        row("payments", nil, "catalog.internal:443", "", measures(1, failed: 0, p50: 0, p95: 0)),
        row(
            "payments", "POST", "payments.internal:443", "/payments", kind: "server",
            measures(2793, failed: 200, p50: 86.1, p95: 809)),
        row(
            "storefront", "POST", "shop.example:443", "/checkout", kind: "server",
            measures(4042, failed: 353, p50: 104.4, p95: 1000)),
    ]

    private static func row(
        _ service: String, _ method: String?, _ host: String, _ endpoint: String, kind: String = "client",
        _ measures: RequestMeasures
    ) -> ReportRow {
        ReportRow(
            dimensions: [.service: service, .kind: kind, .method: method, .host: host, .endpoint: endpoint],
            measures: measures)
    }

    private static func measures(
        _ count: UInt64, failed: UInt64, hung: UInt64 = 0, cancelled: UInt64 = 0, p50: Double, p95: Double
    ) -> RequestMeasures {
        RequestMeasures(
            count: count, perSecond: Double(count) / 3600,
            failures: .init(
                count: failed, rate: Double(failed) / Double(count), transport: 0, http4xx: 0, http5xx: failed - hung,
                hung: hung, cancelled: cancelled),
            latency: .init(
                mean: p50 * 1.5, p50: p50, p75: p50 * 1.2, p90: p95 * 0.9, p95: p95, p99: p95 * 2, max: p95 * 3),
            phases: ["queue": 0.1, "dns": 0.2, "first_byte": p50 * 0.9],
            bytes: .init(sent: count * 61, received: count * 802),
            apdex: 0.96, impact: 0.125)
    }
}
