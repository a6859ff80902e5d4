import MartletStorage
import MartletTelemetry

@testable import MartletReports

/// Kept requests for every output: one that ran out of time within a trace of three services, ordinary ones and a hostile one.
enum SampleRequest {
    static let report = RequestReport(trace[1], trace: TraceAnswer(spans: trace, more: 2))

    static let list: RequestsReport = {
        let requests = [trace[1], trace[3], hostile].map { $0 }
        let query = RequestsQuery(window: TimeWindow(from: start, to: start + 60_000_000_000), limit: 3)
        return RequestsReport(RequestsAnswer(requests: requests, count: 3, isThereMore: false), for: query)
    }()

    private static let start = Samples.time(0)

    private static let trace: [StoredSpan] = [
        span(1, nil, .server, "storefront", "/checkout", 0...2_041, status: 502),
        timeout,
        span(3, 2, .server, "payments", "/payments", 1...3_121, status: 200),
        span(4, 3, .client, "payments", "/charges", 14...3_011, status: 200),
        work,
        span(6, 4, .server, "acquirer", "/charges", 12...2_990, status: 200),
    ]

    private static let timeout: StoredSpan = {
        var stored = span(2, 1, .client, "storefront", "/payments", 39...2_041, error: "timeout")
        stored.span.url = "https://payments.internal:8443/payments?retry=1&note=it%27s"
        stored.span.message = "The request timed out."
        stored.span.bytesSent = 61
        stored.span.attributes = [
            "martlet.phase.queue": .double(0.000_3), "martlet.connection.reused": .boolean(true),
            "http.request.header.content-type": .array([.string("application/json")]),
            "http.request.header.authorization": .array([.string("[redacted]")]),
            "martlet.request.body": .string(#"{"order":4711,"amount":1299,"card":"[redacted]"}"#),
        ]
        return stored
    }()

    private static let work: StoredSpan = {
        var stored = span(5, 3, .internal, "payments", "", 10...12)
        (stored.span.name, stored.span.request) = ("choose \u{202e}acquirer\u{1b}[2J", nil)
        return stored
    }()

    private static let hostile: StoredSpan = {
        var stored = span(7, nil, .client, "=cmd|'/C calc'!A0", "/a|b,\"<b>\r\n@team", 50...51, error: "-1+1")
        stored.span.message = "\u{1b}[2J"
        return stored
    }()

    /// - Parameter times: the milliseconds of its start and of its end.
    private static func span(
        _ number: UInt8, _ parent: UInt64?, _ kind: SpanRecord.Kind, _ service: String, _ endpoint: String,
        _ times: ClosedRange<UInt64>, status: Int? = nil, error: String? = nil
    ) -> StoredSpan {
        let requestKind: RequestKind = kind == .server ? .server : .client
        var request = Samples.dimensions(
            requestKind, endpoint: endpoint, status: status, error: error ?? (status == 502 ? "502" : nil))
        (request.method, request.host, request.port) = ("POST", "\(service).internal", 8443)
        var span = Samples.detail(number)
        span.traceID = Samples.detail(1).traceID
        (span.parentSpanID, span.kind, span.request) = (parent.flatMap { SpanID($0) }, kind, request)
        (span.name, span.url, span.message) = (SpanRecord.name(of: request), "", nil)
        span.start = start + times.lowerBound * 1_000_000
        span.durationNanoseconds = (times.upperBound - times.lowerBound) * 1_000_000
        span.isError = request.error != nil
        return StoredSpan(id: "k\(number)", resource: Samples.resource(service, instance: service + "-1"), span: span)
    }
}
