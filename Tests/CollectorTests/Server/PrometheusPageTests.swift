import Fixtures
import Foundation
import HummingbirdTesting
import MartletOTLP
import MartletPrometheus
import MartletSQLiteStorage
import MartletServer
import MartletTelemetry
import SwiftProtobuf
import Testing

/// `GET /metrics`.
@Suite struct PrometheusPageTests {
    private static let labels = """
        service_name="checkout",deployment_environment_name="test",http_request_method="GET",\
        server_address="api.example.com",server_port="443",\
        url_template="/users/{id}",http_response_status_code="200"
        """

    @Test func everyRequestIsInTheBucketOfItsDuration() async throws {
        try await withServer { client in
            #expect(try await client.post(try Samples.body()).status == .ok)
            let page = try await client.page()
            #expect(page.type == "text/plain; version=0.0.4; charset=utf-8")
            let name = "http_client_request_duration_seconds"
            #expect(page.lines.contains("# TYPE \(name) histogram"))
            // The requests took 0.1, 0.1, 0.2, 0.3 and 3 s.
            for (bound, count) in [("0.075", 0), ("0.25", 3), ("1", 4), ("2.5", 4), ("5", 5), ("+Inf", 5)] {
                #expect(page.lines.contains("\(name)_bucket{\(Self.labels),le=\"\(bound)\"} \(count)"))
            }
            #expect(page.lines.contains("\(name)_count{\(Self.labels)} 5"))
            #expect(abs((page.value("\(name)_sum{\(Self.labels)}") ?? 0) - 3.7) < 1e-9)
            #expect(page.lines.contains("http_client_response_body_size_bytes_total{\(Self.labels)} 2048"))
        }
    }

    /// Prometheus counts differences, so a first sample of zero makes it count the earlier requests. Each Prometheus sees the
    /// zero, whoever read the page before.
    @Test func newSeriesIsZeroForAWhileWhoeverReadsThePage() async throws {
        let (clock, start) = (Clock(), ContinuousClock.now)
        clock.time = 0
        let activity = CollectorActivity(scrapeInterval: .seconds(60)) { [clock] in
            start + .nanoseconds(Int64(clock.time))
        }
        try await withServer(activity: activity) { client in
            #expect(try await client.post(try Samples.body()).status == .ok)
            for seconds in [0, 0, 1, 60, 89] as [UInt64] {
                clock.time = seconds * 1_000_000_000
                let lines = try await client.page().lines.filter { $0.hasPrefix("http_") }
                #expect(lines.count > 15)
                #expect(lines.allSatisfy { $0.hasSuffix(" 0") })
            }
            clock.time = 90_000_000_000
            let name = "http_client_request_duration_seconds_count"
            #expect(try await client.page().value("\(name){\(Self.labels)}") == 5)

            let failed = MetricsBatch(
                resource: Samples.resource(), start: Samples.time(10), end: Samples.time(20),
                series: [Samples.dimensions(status: nil, error: "timeout"): Samples.statistics([8, 8])],
                ledger: Ledger(captured: 7, waiting: 2))
            #expect(try await client.post(try failed.otlp()).status == .ok)
            for (seconds, count) in [(90, "0"), (90, "0"), (179, "0"), (180, "2"), (180, "2")] as [(UInt64, Substring)]
            {
                clock.time = seconds * 1_000_000_000
                let page = try await client.page()
                #expect(page.value("\(name){\(Self.labels)}") == 5)
                let lines = page.lines.filter { $0.hasPrefix(name) && $0.contains("error_type=\"timeout\"") }
                let counts: [Substring?] = lines.map { $0.split(separator: " ").last }
                #expect(counts == [count])
            }
        }
    }

    @Test func batchSentTwiceCountsOnce() async throws {
        try await withServer { client in
            for sequence in [1, 1, 2, 2, 1] {
                #expect(try await client.post(try Samples.body(), batch: "i-1/\(sequence)/metrics").status == .ok)
            }
            let page = try await client.page()
            #expect(page.lines.contains("http_client_request_duration_seconds_count{\(Self.labels)} 10"))
            #expect(page.lines.contains("martlet_collector_duplicate_batches_total 3"))
            #expect(page.lines.contains("martlet_collector_ingested_points_total 2"))
            #expect(page.lines.contains("martlet_collector_commit_duration_seconds_count 5"))
        }
    }

    /// The second batch brings the first end again.
    @Test func endOfAProcessCountsOnceByServiceVersionAndCause() async throws {
        try await withServer { client in
            #expect(try await !client.page().lines.contains { $0.contains("process_ends") })
            for (number, instances) in [["a", "b"], ["a", "c"]].enumerated() {
                let points = instances.map { instance in
                    IntakeEndTests.point(
                        [
                            "martlet.ended.instance": instance, "martlet.reason": instance == "b" ? "clean" : "killed",
                        ])
                }
                let body: [UInt8] = try IntakeEndTests.request(points).serializedBytes()
                #expect(try await client.post(body, batch: "new/\(number + 1)/metrics").status == .ok)
            }
            let page = try await client.page()
            let labels = #"service_name="shop",service_version="1.5.0",cause="#
            #expect(page.value("martlet_process_ends_total{\(labels)\"killed\"}") == 2)
            #expect(page.value("martlet_process_ends_total{\(labels)\"clean\"}") == 1)
        }
    }

    @Test func serverRequestsHaveARouteAndTheReceivedBytes() async throws {
        let batch = MetricsBatch(
            resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10),
            series: [
                Samples.dimensions(.server, status: nil, error: "reset"): Samples.statistics([1], sent: 3, received: 5)
            ], ledger: Ledger(captured: 1, waiting: 1))
        try await withServer { client in
            #expect(try await client.post(try batch.otlp()).status == .ok)
            let page = try await client.page()
            let labels = """
                service_name="checkout",deployment_environment_name="test",http_request_method="GET",\
                server_address="api.example.com",server_port="443",\
                http_route="/users/{id}",error_type="reset"
                """
            #expect(page.lines.contains("http_server_request_duration_seconds_count{\(labels)} 1"))
            #expect(page.lines.contains("http_server_request_body_size_bytes_total{\(labels)} 5"))
            #expect(page.lines.contains("http_server_response_body_size_bytes_total{\(labels)} 3"))
            #expect(!page.lines.contains { $0.contains("http_client") })
        }
    }

    @Test func eachEnvironmentOfAServiceHasSeparateSeries() async throws {
        try await withServer { client in
            for (environment, count) in [("production", 3), (nil, 1)] as [(String?, Int)] {
                var resource = Samples.resource(instance: environment ?? "none")
                resource.environment = environment
                let batch = MetricsBatch(
                    resource: resource, start: Samples.time(0), end: Samples.time(10),
                    series: [Samples.dimensions(): Samples.statistics(Array(repeating: 0.1, count: count))],
                    ledger: Ledger(captured: UInt64(count), waiting: UInt64(count)))
                #expect(try await client.post(try batch.otlp()).status == .ok)
            }
            let counts = try await client.page().lines.filter {
                $0.hasPrefix("http_client_request_duration_seconds_count{")
            }
            #expect(counts.count == 2)
            #expect(counts.contains { $0.contains("deployment_environment_name=\"production\"") && $0.hasSuffix(" 3") })
            #expect(counts.contains { !$0.contains("deployment_environment_name") && $0.hasSuffix(" 1") })
        }
    }

    @Test func failureAlwaysHasAnErrorType() async throws {
        let attributes = [
            OTLPKeyValue("http.method", "GET"), OTLPKeyValue("http.route", "/r"),
            OTLPKeyValue("http.status_code", Int64(500)),
        ]
        let metric = OtherMetrics.histogram(
            [OtherMetrics.point([20], attributes: attributes)], name: "http.server.duration", unit: "ms", .delta)
        let body: [UInt8] = try OtherMetrics.request(scopes: [[metric]]).serializedBytes()
        try await withServer { client in
            #expect(try await client.post(body).status == .ok)
            let labels = """
                service_name="shop",http_request_method="GET",http_route="/r",http_response_status_code="500",\
                error_type="500"
                """
            let page = try await client.page()
            #expect(page.lines.contains("http_server_request_duration_seconds_count{\(labels)} 1"))
        }
    }

    @Test func differencesOfCumulativePointsAreAdded() async throws {
        try await withServer { client in
            let points: [(end: UInt64, values: [Double])] = [
                (10, [0.2]), (20, [0.2, 0.7]), (20, [0.2, 0.7]), (30, [0.2, 0.7, 0.7]),
            ]
            for (end, values) in points {
                let metric = OtherMetrics.histogram([OtherMetrics.point(values, end: end)])
                let body: [UInt8] = try OtherMetrics.request(scopes: [[metric]]).serializedBytes()
                #expect(try await client.post(body).status == .ok)
            }
            let page = try await client.page()
            let counts = page.lines.filter { $0.hasPrefix("http_server_request_duration_seconds_count{") }
            #expect(counts.map { $0.split(separator: " ").last } == ["3"])
            let sums = page.lines.filter { $0.hasPrefix("http_server_request_duration_seconds_sum{") }
            let sum: Substring = try #require(sums.first?.split(separator: " ").last)
            #expect(abs(try #require(Double(sum)) - 1.6) < 1e-9)
        }
    }

    @Test func spansCountIfTheSameRequestsHaveNoMetrics() async throws {
        let spans = { (service: String) in
            var resource = Samples.resource(service)
            resource.agent = "opentelemetry 1.38"
            let details = (1...3).map { Samples.detail(UInt8($0) + (service == "both" ? 100 : 0)) }
            return [DetailsBatch(resource: resource, details: details)]
        }
        let activity = CollectorActivity()
        let folder = try TemporaryFolder()
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"), onStored: activity.add)
        for service in ["both", "spans"] { _ = try await storage.store(spans(service), of: nil) }
        _ = try await storage.store(
            [Samples.metrics(requests: 2, end: 10, resource: Samples.resource("both"))], of: nil)
        let counts = activity.requests.parts.joined().split(separator: "\n")
            .filter { $0.hasPrefix("http_client_request_duration_seconds_count{") }
        #expect(counts.count == 2)
        #expect(counts.contains { $0.contains("\"both\"") && $0.hasSuffix(" 2") })
        #expect(counts.contains { $0.contains("\"spans\"") && $0.hasSuffix("martlet_source=\"spans\"} 3") })
    }

    @Test func spansSentTwiceCountOnce() async throws {
        var resource = Samples.resource()
        resource.agent = "opentelemetry 1.38"
        let first = try DetailsBatch(resource: resource, details: (1...3).map { Samples.detail($0) }).otlp()
        let second = try DetailsBatch(resource: resource, details: (3...5).map { Samples.detail($0) }).otlp()
        try await withServer { client in
            for body in [first, first, second] {
                let response = try await client.post(body, to: "/v1/traces")
                #expect(response.status == .ok)
            }
            #expect(try await client.page().value("martlet_collector_ingested_spans_total") == 5)
        }
    }

    @Test func answersAndRefusalsAreCountedByReason() async throws {
        try await withServer { client in
            #expect(try await client.post([0xff, 0xff]).status.code == 400)
            let long = MetricsBatch(
                resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10),
                series: [
                    Samples.dimensions(endpoint: "/" + String(repeating: "x", count: 2000)): Samples.statistics([1])
                ], ledger: Ledger(captured: 1, waiting: 1))
            #expect(try await client.post(try long.otlp()).status == .ok)
            #expect(try await client.post([], to: "/v1/profiles").status == .notFound)
            #expect(try await client.get("/v1/traces").status == .methodNotAllowed)
            let page = try await client.page()
            #expect(page.lines.contains("martlet_collector_requests_total{signal=\"metrics\",status=\"200\"} 1"))
            #expect(page.lines.contains("martlet_collector_requests_total{signal=\"metrics\",status=\"400\"} 1"))
            #expect(page.lines.contains("martlet_collector_requests_total{signal=\"other\",status=\"404\"} 1"))
            #expect(page.lines.contains("martlet_collector_requests_total{signal=\"traces\",status=\"405\"} 1"))
            #expect(page.lines.contains("martlet_collector_requests_in_flight 0"))
            let refused =
                "martlet_collector_rejected_requests_total{reason=\"the body is not an OTLP protobuf message\"}"
            #expect(page.value(refused) == 1)
            let rejected = page.lines.filter { $0.hasPrefix("martlet_collector_rejected_points_total{") }
            #expect(rejected.contains { $0.contains("too long") })
        }
    }

    @Test func pageHasFiguresOfTheStoreAndTheProcess() async throws {
        try await withServer { client in
            let page = try await client.page()
            for name in [
                "martlet_collector_store_size_bytes", "martlet_collector_store_disk_free_bytes",
                "process_resident_memory_bytes", "process_cpu_seconds_total",
                "process_start_time_seconds", "process_open_fds",
            ] {
                #expect((page.value(name) ?? 0) > 0, "\(name)")
            }
        }
    }

    @Test func readTokenGuardsThePage() async throws {
        try await withServer(tokens: ServerTokens(ingest: "may-send", read: "may-read")) { client in
            for token in [nil, "may-send"] {
                let refused = try await client.get("/metrics", token: token)
                #expect(refused.status.code == 401)
            }
            #expect(try await client.get("/metrics", token: "may-read").status == .ok)
        }
    }

    @Test func hostileNamesStayWithinTheirLabel() async throws {
        let name = "\"} 1\nevil{a=\"b\\\u{0}\r"
        let batch = MetricsBatch(
            resource: Samples.resource(name), start: Samples.time(0), end: Samples.time(10),
            series: [Samples.dimensions(endpoint: name): Samples.statistics([1])],
            ledger: Ledger(captured: 1, waiting: 1))
        try await withServer { client in
            #expect(try await client.post(try batch.otlp()).status == .ok)
            let page = try await client.page()
            let written = #"\"} 1\nevil{a=\"b\\"# + "\u{FFFD}\u{FFFD}"
            let line = page.lines.first { $0.hasPrefix("http_client_request_duration_seconds_count") }
            #expect(line?.contains("service_name=\"\(written)\"") == true)
            #expect(line?.contains("url_template=\"\(written)\"") == true)
            #expect(!page.lines.contains { $0.hasPrefix("evil") })
        }
    }
}
