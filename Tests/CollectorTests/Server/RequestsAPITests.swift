import Fixtures
import Foundation
import HummingbirdTesting
import MartletOTLP
import MartletReports
import MartletServer
import MartletStorage
import MartletTelemetry
import Testing

@Suite struct RequestsAPITests {
    private let detail: SpanRecord = {
        var span = Samples.detail(1)
        span.attributes = [
            "martlet.phase.queue": .double(0.001), "martlet.phase.first_byte": .double(0.2),
            "http.request.header.content-type": .array([.string("application/json")]),
            "http.response.header.retry-after": .array([.string("1")]),
            "martlet.request.body": .string(#"{"order":4711}"#), "network.peer.port": .integer(443),
        ]
        return span
    }()

    private func post(_ spans: [SpanRecord], to client: any TestClientProtocol) async throws {
        let batch = DetailsBatch(resource: Samples.resource(), details: spans)
        #expect(try await client.post(try batch.otlp(), to: "/v1/traces").status == .ok)
    }

    private func list(_ query: String, from client: any TestClientProtocol) async throws -> RequestsReport {
        let response = try await client.get("/api/v1/requests?since=2026-09-21T14:13:20Z&\(query)")
        #expect(response.status == .ok)
        return try ReportJSON.value(of: RequestsReport.self, in: Data(buffer: response.body))
    }

    @Test func keptRequestIsListedWithTheFixedNames() async throws {
        try await withServer { client in
            try await post([detail], to: client)
            let response = try await client.get("/api/v1/requests")
            let object = try JSONSerialization.jsonObject(with: Data(buffer: response.body))
            let report = try #require(object as? [String: Any])
            #expect(Set(report.keys) == ["from", "to", "count", "requests"])
            let request = try #require((report["requests"] as? [[String: Any]])?.first)
            #expect(
                Set(request.keys) == [
                    "id", "time", "duration_ms", "service", "environment", "version", "instance", "kind", "method",
                    "host",
                    "endpoint", "url", "status", "error", "message", "failed", "bytes", "phases_ms", "trace_id",
                    "span_id",
                ])
            #expect(request["time"] as? String == "2026-09-21T14:13:21.000Z")
            #expect(request["duration_ms"] as? Double == 250)
            #expect(request["phases_ms"] as? [String: Double] == ["queue": 1, "first_byte": 200])
            #expect(request["failed"] as? Bool == true)
        }
    }

    @Test func unknownSizeIsLeftOut() throws {
        func bytes(_ agent: String) throws -> RequestSummary.Bytes {
            var (span, resource) = (detail, Samples.resource())
            (span.bytesSent, resource.agent) = (0, agent)
            return try #require(RequestSummary(StoredSpan(id: "a", resource: resource, span: span))).bytes
        }
        #expect(try bytes("martlet 0.1.0").sent == 0)
        #expect(try bytes("opentelemetry 1.38").sent == nil)
        #expect(try bytes("opentelemetry 1.38").received == 5)
    }

    @Test func requestIsShownWithAllKeptDetails() async throws {
        try await withServer { client in
            var child = Samples.detail(2)
            (child.traceID, child.parentSpanID, child.start) = (detail.traceID, detail.spanID, Samples.time(2))
            try await post([detail, child], to: client)
            let id = try #require(try await list("ascending=true", from: client).requests.first?.id)
            let response = try await client.get("/api/v1/requests/\(id)")
            let report = try ReportJSON.value(of: RequestReport.self, in: Data(buffer: response.body))
            #expect(report.summary.id == id)
            #expect(report.requestHeaders == ["content-type": ["application/json"]])
            #expect(report.responseHeaders == ["retry-after": ["1"]])
            #expect(report.requestBody == #"{"order":4711}"#)
            #expect(report.responseBody == nil)
            #expect(report.attributes == ["network.peer.port": "443"])
            #expect(report.trace.map(\.offset) == [0, 1000])
            #expect(report.trace.map(\.parentSpanID) == [nil, detail.spanID.description])
            #expect(try ReportJSON.text(of: report) == String(buffer: response.body))
        }
    }

    @Test func requestTakesNoParameters() async throws {
        try await withServer { client in
            try await post([detail], to: client)
            let id = try #require(try await list("", from: client).requests.first?.id)
            #expect(try await client.get("/api/v1/requests/\(id)?format=json").status == .badRequest)
            #expect(try await client.get("/api/v1/requests/\(id)").status == .ok)
        }
    }

    @Test func listIsFilteredSearchedAndPaged() async throws {
        try await withServer { client in
            let spans = (1...5 as ClosedRange<UInt8>).map { number in
                var span = Samples.detail(number)
                span.start = Samples.time(UInt64(number))
                span.durationNanoseconds = UInt64(number) * 100_000_000
                if number == 4 { span.request?.endpoint = "/pay" }
                return span
            }
            try await post(spans, to: client)
            #expect(try await list("limit=5", from: client).requests.map(\.duration) == [500, 400, 300, 200, 100])
            #expect(try await list("slower-than=300ms&failed", from: client).count == 2)
            let middle = try await list("slower-than=100ms&faster-than=300ms", from: client)
            #expect(middle.requests.map(\.duration) == [200])
            #expect(try await list("endpoint=/pay&endpoint=/other", from: client).count == 1)
            #expect(try await list("search=PAY", from: client).requests.map(\.endpoint) == ["/pay"])
            let first = try await list("sort=duration&ascending=true&limit=2", from: client)
            #expect(first.requests.map(\.duration) == [100, 200])
            #expect(first.count == 5)
            let next = try #require(first.next)
            let second = try await list("sort=duration&ascending=true&limit=3&before=\(next)", from: client)
            #expect(second.requests.map(\.duration) == [300, 400, 500])
            #expect(second.next == nil)
        }
    }

    @Test func deletedRequestsAreGoneButTheReportStays() async throws {
        try await withServer { client in
            try await post([detail], to: client)
            _ = try await client.post(try Samples.body())
            let refused = try await client.executeRequest(
                uri: "/api/v1/requests?service=a", method: .delete, headers: [:], body: nil)
            #expect(refused.status == .badRequest)
            #expect(try await list("", from: client).count == 1)
            let response = try await client.executeRequest(
                uri: "/api/v1/requests", method: .delete, headers: [:], body: nil)
            #expect(try ReportJSON.value(of: RemovalReport.self, in: Data(buffer: response.body)).removed == 1)
            #expect(try await list("", from: client).count == 0)
            #expect(try await client.count() > 0)
        }
    }

    @Test func seriesHasTheFiguresOfEachSlot() async throws {
        try await withServer { client in
            _ = try await client.post(try Samples.body())
            let response = try await client.get("/api/v1/series?since=1m&by=endpoint&step=20s")
            let report = try ReportJSON.value(of: SeriesReport.self, in: Data(buffer: response.body))
            #expect(report.step == 20)
            #expect(report.ends == ["2026-09-21T14:13:40Z", "2026-09-21T14:14:00Z", "2026-09-21T14:14:20Z"])
            #expect(report.rows.map { $0.slots.map { $0?.count } } == [[5, nil, nil]])
            #expect(report.rows.map(\.dimensions) == [[.endpoint: "/users/{id}"]])
            #expect(report.totalsByKind.mapValues(\.count) == [.client: 5])
            #expect(String(buffer: response.body).contains(#""endpoint" : "/users/{id}""#))
            #expect(try ReportJSON.text(of: report) == String(buffer: response.body))
            let chosen = try await client.get("/api/v1/series?since=1h")
            #expect(try ReportJSON.value(of: SeriesReport.self, in: Data(buffer: chosen.body)).step == 60)
        }
    }

    @Test func valuesOfADimensionAreListed() async throws {
        try await withServer { client in
            _ = try await client.post(try Samples.body())
            let response = try await client.get(
                "/api/v1/values/endpoint?since=2026-09-21T14:13:20Z&until=2026-09-21T14:15:00Z")
            #expect(response.status == .ok)
            let unknown = try await client.get("/api/v1/values/colour")
            #expect(unknown.status == .notFound)
            #expect(String(buffer: unknown.body).contains("the dimensions are service, environment, "))
            #expect(try await client.get("/api/v1/values/endpoint?by=host").status == .badRequest)
        }
    }

    @Test(arguments: [
        "/api/v1/requests?limit=0", "/api/v1/requests?limit=1001", "/api/v1/requests?slower-than=fast",
        "/api/v1/requests?failed=perhaps", "/api/v1/requests?sort=colour", "/api/v1/requests?since=2h&until=3h",
        "/api/v1/requests?kind=both", "/api/v1/requests?status=9", "/api/v1/requests?status=9xx",
        "/api/v1/requests?status=%2B404", "/api/v1/requests?faster-than=fast", "/api/v1/series?step=1s",
        "/api/v1/series?step=x", "/api/v1/values/host?limit=0", "/api/v1/report?kind=both",
    ])
    func badParameterIs400WithASentence(path: String) async throws {
        try await withServer { client in
            let response = try await client.get(path)
            #expect(response.status == .badRequest)
            let answer = try JSONDecoder().decode([String: String].self, from: Data(buffer: response.body))
            #expect(answer["error"]?.contains(" ") == true)
        }
    }

    @Test(arguments: ["/api/v1/requests/zzzz", "/api/v1/requests/no%20id", "/api/v1/requests?before=zzzz"])
    func unknownRequestIs404WithASentence(path: String) async throws {
        try await withServer { client in
            let response = try await client.get(path)
            #expect(response.status == .notFound)
            let answer = try JSONDecoder().decode([String: String].self, from: Data(buffer: response.body))
            #expect(answer["error"]?.contains(" ") == true)
        }
    }

    @Test(arguments: ["requests", "requests/1", "series", "values/host"])
    func readerNeedsTheReadToken(path: String) async throws {
        try await withServer(tokens: ServerTokens(ingest: "in", read: "out")) { client in
            #expect(try await client.get("/api/v1/\(path)").status == .unauthorized)
            #expect(try await client.get("/api/v1/\(path)", token: "in").status == .unauthorized)
            let deletion = try await client.executeRequest(
                uri: "/api/v1/requests", method: .delete, headers: [:], body: nil)
            #expect(deletion.status == .unauthorized)
        }
    }
}
