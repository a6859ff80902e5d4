import Fixtures
import Foundation
import MartletOTLP
import MartletPrometheus
import MartletTelemetry
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The real Prometheus scrapes a real collector.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PrometheusTests {
    private static let token = "may-read"
    private let folder: TemporaryFolder
    private let collector: CollectorProcess
    /// The start of the first batch, in seconds since 1970.
    private let start = UInt64(Date().timeIntervalSince1970) - 100

    init() async throws {
        folder = try TemporaryFolder()
        collector = try await CollectorProcess(
            store: folder.path("collector.sqlite"),
            environment: [
                "MARTLET_COLLECTOR_READ_TOKEN": Self.token, "MARTLET_COLLECTOR_SCRAPE_INTERVAL": "1500ms",
            ])
    }

    @Test func scrapedFiguresMatchTheStore() async throws {
        let prometheus = try await Prometheus(scraping: collector.address, token: Self.token, folder: folder)
        var sample = SampleBatch(seed: 3)
        sample.time = start
        sample.resource.service = "shop \"\\\n\u{0}}{é"
        sample.requestsPerEndpoint = 100
        var expected = RequestStatistics()
        for sequence in 1...4 {
            let batch = sample.next()
            for (_, statistics) in batch.series { expected.merge(statistics) }
            #expect(try await collector.post(try batch.otlp(), batch: "a/\(sequence)/metrics") == 200)
            // The batch is sent a second time, which must change nothing.
            #expect(try await collector.post(try batch.otlp(), batch: "a/\(sequence)/metrics") == 200)
        }
        let name = "http_client_request_duration_seconds"
        try await prometheus.scrape()
        let count = try await prometheus.samples(of: "sum(\(name)_count)")
        #expect(count.map(\.number) == [1200])
        let sum = try await prometheus.samples(of: "sum(\(name)_sum)").first?.number
        #expect(abs((sum ?? 0) / expected.duration.sum - 1) < 1e-12)
        let bytes = try await prometheus.samples(of: "sum(http_client_response_body_size_bytes_total)").first?
            .number
        #expect(bytes == Double(expected.bytesReceived))
        for share in [0.5, 0.9, 0.99] {
            let expression = "histogram_quantile(\(share), sum by (le) (\(name)_bucket))"
            let estimate = try #require(try await prometheus.samples(of: expression).first?.number)
            let exact = try #require(expected.duration.quantile(share))
            // Prometheus knows only the bucket of a value.
            let bounds = [0] + ExplicitHistogram.requestBounds.values
            let bucket = try #require(bounds.lastIndex { $0 < exact })
            #expect(estimate >= bounds[bucket] && estimate <= bounds[bucket + 1], "\(share): \(estimate) for \(exact)")
        }
        let services = try await prometheus.samples(of: "count by (service_name) (\(name)_count)")
        #expect(services.map { $0.metric["service_name"] } == ["shop \"\\\n\u{FFFD}}{é"])
    }

    @Test func promtoolHasNoComplaintsAboutThePage() async throws {
        try await sendSomethingOfEverything()
        #expect(try await Prometheus.lint(try await page(), folder: folder) == "")
    }

    /// The collector maintains its store every ten seconds.
    @Test func collectorReportsWhenItsStoreWasMaintained() async throws {
        let name = "martlet_collector_last_maintenance_timestamp_seconds "
        let line = { (page: String) in page.split(separator: "\n").first { $0.hasPrefix(name) }.map(String.init) }
        let first = try #require(line(try await page()))
        while line(try await page()) == first {
            // The page gives no notice of a change.
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    @Test func everyDashboardExpressionHasAnAnswer() async throws {
        let prometheus = try await Prometheus(scraping: collector.address, token: Self.token, folder: folder)
        let expressions = try Dashboard.expressions()
        #expect(expressions.count > 50)
        // A series increases only from its second scrape on.
        for number in [1, 2] {
            try await sendSomethingOfEverything(number)
            try await prometheus.scrape()
        }
        // ClickHouse's disk is on another machine.
        let unknown = TestedStore.isClickHouse ? ["martlet_collector_store_disk_free_bytes"] : []
        for expression in expressions where !unknown.contains(expression) {
            let numbers = try await prometheus.samples(of: expression).map(\.number)
            #expect(!numbers.isEmpty && numbers.allSatisfy { $0.isFinite }, "\(expression): \(numbers)")
            let isZero = Self.zeros.contains { expression.contains($0) }
            #expect(numbers.contains { $0 > 0 } != isZero, "\(expression): \(numbers)")
        }
    }

    /// Parts of the expressions that are 0 after ``sendSomethingOfEverything()``.
    private static let zeros = [
        "duplicate_batches", "overlapping_batches", "commit_failures", "requests_in_flight", "agents_left_out",
        "martlet_agent_capturing", "{other}",
    ]

    /// Some requests have a status of 500 without an error type, as older instruments send them. Others name errors that are
    /// not failures. All arrive together in the first batch.
    @Test func dashboardHasTheSameFailuresAsTheReport() async throws {
        let prometheus = try await Prometheus(scraping: collector.address, token: Self.token, folder: folder)
        try await prometheus.scrape()
        let time = UInt64(Date().timeIntervalSince1970 - 10) * 1_000_000_000
        let batch = unnamedFailures(from: time, to: time + 1_000_000_000, captured: 14)
        #expect(try await collector.post(try batch.otlp(), batch: "a/1/metrics") == 200)
        try await prometheus.scrape()
        for kind in RequestKind.allCases {
            let report = try await Probe(folder: folder, collector: collector.address)
                .report(["--kind", kind.rawValue, "--read-token", Self.token])
            let expected = report.totals.measures.failures.rate
            #expect(expected == (kind == .client ? 3.0 / 7 : 2.0 / 7))
            let metric = "http_\(kind)_request_duration_seconds_count"
            let expressions = try Dashboard.expressions().filter {
                $0.contains(metric) && $0.contains("error_type!~")
            }
            #expect(expressions.count == 2)
            for expression in expressions {
                let share =
                    expression.contains(" / ") ? expression : "sum(\(expression)) / sum(increase(\(metric)[1h]))"
                let found = try #require(try await prometheus.samples(of: share).first?.number)
                #expect(abs(found - expected) < 1e-9, "\(share)")
            }
        }
    }

    /// Each column of a table has the fifty endpoints with the most requests.
    @Test func dashboardTablesHaveTheSameFiftyEndpointsInEveryColumn() async throws {
        let prometheus = try await Prometheus(scraping: collector.address, token: Self.token, folder: folder)
        #expect(try await collector.post(try manyEndpoints().otlp(), batch: "a/1/metrics") == 200)
        try await prometheus.scrape()
        let most = Set((11...60).map { "/\($0)" })
        for (kind, route) in [(RequestKind.client, "url_template"), (.server, "http_route")] {
            let columns = try Dashboard.expressions().filter { $0.contains("topk(50") && $0.contains("http_\(kind)") }
            #expect(columns.count == 4)
            for column in columns {
                let endpoints = try await prometheus.samples(of: column).compactMap { $0.metric[route] }
                #expect(endpoints.count == 50)
                #expect(Set(endpoints) == most, "\(column)")
            }
        }
    }

    /// Returns sixty endpoints of either kind: `/n` has n requests that succeeded and one that failed.
    private func manyEndpoints() -> MetricsBatch {
        let time = UInt64(Date().timeIntervalSince1970 - 10) * 1_000_000_000
        var batch = MetricsBatch(
            resource: TelemetryResource(service: "shop", instance: "a"), start: time, end: time + 1_000_000_000,
            series: [:], ledger: Ledger(captured: 3780, waiting: 3780))
        for kind in RequestKind.allCases {
            for number in 1...60 {
                for (status, error, count) in [(200, nil, number), (503, "503", 1)] as [(Int, String?, Int)] {
                    let dimensions = RequestDimensions(
                        kind: kind, method: "GET", host: "api.example.com", port: 443, endpoint: "/\(number)",
                        status: status, error: error)
                    for _ in 0..<count {
                        batch.series[dimensions, default: RequestStatistics()]
                            .record(seconds: 0.1, bytesSent: 0, bytesReceived: 0)
                    }
                }
            }
        }
        return batch
    }

    private func unnamedFailures(from start: UInt64, to end: UInt64, captured: UInt64) -> MetricsBatch {
        let ends: [(status: Int?, error: String?, count: Int)] = [
            (200, nil, 3), (500, nil, 1), (404, "NotFound", 1), (nil, "timeout", 1), (nil, "cancelled", 1),
        ]
        var batch = MetricsBatch(
            resource: TelemetryResource(service: "shop", instance: "a"), start: start, end: end, series: [:],
            ledger: Ledger(captured: captured, waiting: captured))
        for kind in RequestKind.allCases {
            for (status, error, count) in ends {
                let dimensions = RequestDimensions(
                    kind: kind, method: "GET", host: "api.example.com", port: 443, endpoint: "/", status: status,
                    error: error)
                for _ in 0..<count {
                    batch.series[dimensions, default: RequestStatistics()]
                        .record(seconds: 0.1, bytesSent: 0, bytesReceived: 0)
                }
            }
        }
        return batch
    }

    /// Sends requests of clients and servers, failures, a loss, refused points, a span, a refused span, and a body that cannot
    /// be read. Other requests wait.
    ///
    /// - Parameter number: 1 first, then 2 and so on for later batches of the same sender.
    private func sendSomethingOfEverything(_ number: Int = 1) async throws {
        var sample = SampleBatch(seed: 4)
        sample.time = start
        sample.endpoints = 5
        var batch = sample.next()
        for _ in 1..<number { batch = sample.next() }
        for kind in RequestKind.allCases {
            let failed = RequestDimensions(
                kind: kind, method: "GET", host: "api.example.com", port: 443, endpoint: "/", status: 503, error: "503")
            let long = RequestDimensions(
                kind: kind, method: "GET", host: String(repeating: "x", count: 5000), port: 443, endpoint: "/",
                status: 200, error: nil)
            for dimensions in [failed, long] {
                batch.series[dimensions, default: RequestStatistics()]
                    .record(seconds: 0.1, bytesSent: 1, bytesReceived: 1)
            }
        }
        batch.ledger.captured += 20
        batch.ledger.dropped = [.bufferFull: 2]
        #expect(try await collector.post(try batch.otlp(), batch: "a/\(number)/metrics") == 200)
        #expect(try await collector.post([0xff], batch: "b/\(number)/metrics") == 400)
        var span = OTLPSpan()
        span.traceID = Data(repeating: 1, count: 16)
        span.spanID = Data(repeating: UInt8(number), count: 8)
        (span.startTimeUnixNano, span.endTimeUnixNano) = (batch.start, batch.end)
        var traces = OTLPExportTraceServiceRequest()
        traces.resourceSpans = [OTLPResourceSpans()]
        traces.resourceSpans[0].scopeSpans = [OTLPScopeSpans()]
        traces.resourceSpans[0].scopeSpans[0].spans = [OTLPSpan(), span]
        var request = URLRequest(url: try url("/v1/traces"))
        request.httpMethod = "POST"
        request.setValue("application/x-protobuf", forHTTPHeaderField: "Content-Type")
        request.httpBody = try traces.serializedData()
        #expect((try await URLSession.shared.data(for: request).1 as? HTTPURLResponse)?.statusCode == 200)
    }

    private func page() async throws -> String {
        var request = URLRequest(url: try url("/metrics"))
        request.setValue("Bearer \(Self.token)", forHTTPHeaderField: "Authorization")
        return String(decoding: try await URLSession.shared.data(for: request).0, as: UTF8.self)
    }

    private func url(_ path: String) throws -> URL { try #require(URL(string: collector.address + path)) }
}

/// The expressions in `deploy/grafana/martlet.json`.
private struct Dashboard: Decodable {
    struct Panel: Decodable {
        struct Target: Decodable {
            let expr: String
        }
        let targets: [Target]?
    }
    let panels: [Panel]

    static func expressions() throws -> [String] {
        let file = URL(fileURLWithPath: Repository.path("deploy/grafana/martlet.json"))
        let dashboard = try JSONDecoder().decode(Dashboard.self, from: try Data(contentsOf: file))
        return dashboard.panels.flatMap { $0.targets ?? [] }.map { target in
            let variables = ["service", "environment", "version", "instance"].map { ("$" + $0, ".*") }
            return (variables + [("$__rate_interval", "1m"), ("$__range", "1h")]).reduce(target.expr) {
                $0.replacingOccurrences(of: $1.0, with: $1.1)
            }
        }
    }
}
