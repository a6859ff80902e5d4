import Fixtures
import Foundation
import HummingbirdTesting
import MartletReports
import MartletTelemetry
import Testing

@Suite struct RequestPageTests {
    private func page(
        _ span: SpanRecord, _ query: String = "", from client: any TestClientProtocol
    ) async throws -> ReadPage {
        try await KeptRequests.send([span], to: client)
        return try await client.read("/requests/\(try await KeptRequests.id(from: client))\(query)")
    }

    private let detail = KeptRequests.span(1) { span in
        span.attributes = [
            "martlet.phase.queue": .double(0.001), "martlet.phase.first_byte": .double(0.2),
            "http.request.header.authorization": .array([.string("REDACTED")]),
            "http.request.header.content-type": .array([.string("application/json")]),
            "http.response.header.retry-after": .array([.string("1")]),
            "martlet.request.body": .string(#"{"order":4711,"card":"REDACTED"}"#), "network.peer.port": .integer(443),
        ]
    }

    @Test func allKeptDataIsShown() async throws {
        try await withServer { client in
            let page = try await page(detail, "?since=6h", from: client)
            #expect(page.status == 200)
            for part in [
                "GET https://api.example.com/users/7 sent by checkout 1.2 on i-1, test, 2026-09-21 14:13:21.000 UTC",
                "Status 503 Duration 250 ms Sent 3 B Received 5 B Connection reused Trace 1 span in 1 service",
                "Queue waiting in this process for the session and a connection 1.00",
                "First byte on an open connection 200",
                "authorization REDACTED content-type application/json",
                #"Body 32 bytes are kept, application/json {"order":4711,"card":" REDACTED "}"#,
                "retry-after 1 No body is kept.", "Type 503 Message unavailable", "network.peer.port 443",
                "checkout calls GET /users/{id}", "martlet-collector requests show",
            ] {
                #expect(page.text.contains(part), "\(part)")
            }
            #expect(page.markup.contains(#"<span class="redacted">REDACTED</span>"#))
        }
    }

    @Test func addressIsNotALink() async throws {
        try await withServer { client in
            let page = try await page(detail, from: client)
            #expect(page.links.allSatisfy { ($0.hasPrefix("/") && !$0.hasPrefix("//")) || $0.hasPrefix("#") })
            #expect(page.links.contains("/traces/01000000000000000000000000000001"))
        }
    }

    @Test func commandSendsTheRequestAgain() async throws {
        try await withServer { client in
            let page = try await page(detail, from: client)
            #expect(
                page.text.contains(
                    #"curl --globoff -X GET --url https://api.example.com/users/7 -H 'authorization: REDACTED' -H 'content-type"#
                ))
            #expect(page.markup.contains(#"<pre id="curl""#) && page.markup.contains(##"data-copy="#curl""##))
        }
    }

    @Test func longBodyIsCutAndThePageSaysSo() async throws {
        try await withServer { client in
            let body = KeptRequests.hostile + String(repeating: "é", count: 100_000)
            let page = try await page(
                KeptRequests.span(1) { $0.attributes = ["martlet.response.body": .string(body)] }, from: client)
            #expect(page.markup.utf8.count < 150_000)
            #expect(page.text.contains("more bytes"))
            #expect(page.markup.contains("&lt;mark&gt;") && !page.markup.contains("<mark"))
        }
    }

    @Test func hostileTextStaysText() async throws {
        try await withServer { client in
            let name = KeptRequests.hostile
            let span = KeptRequests.span(1) {
                ($0.url, $0.message, $0.name) = ("https://\(name)/\(name)", name, name)
                $0.request?.endpoint = name
                $0.request?.error = name
                $0.attributes = [
                    "http.request.header.\(name)": .array([.string(name)]), name: .string(name),
                    "martlet.request.body": .string(name),
                ]
            }
            let page = try await page(span, from: client)
            #expect(page.status == 200)
            #expect(!page.markup.contains("<mark") && !page.shown.contains("\u{202e}"))
        }
    }

    @Test func pageOfARequestWithoutDetailsSaysWhatIsNotKept() async throws {
        try await withServer { client in
            let page = try await page(
                KeptRequests.span(1) {
                    ($0.url, $0.isError, $0.message) = ("", false, nil)
                    $0.request = Samples.dimensions()
                }, from: client)
            #expect(page.text.contains("Request No headers are kept. No body is kept."))
            #expect(page.text.contains("Connection unknown"))
            #expect(
                !page.text.contains("Phases") && !page.text.contains("As curl") && !page.text.contains("Failed first"))
        }
    }

    @Test(arguments: ["/requests/zzzz", "/requests/no%20id", "/requests/%3Cb%3E"])
    func unknownRequestReturns404WithASentence(path: String) async throws {
        try await withServer { client in
            let page = try await client.read(path)
            #expect(page.status == 404)
            #expect(page.text.contains("no request with this id is kept"))
        }
    }

    @Test func badParameterReturns400WithASentence() async throws {
        try await withServer { client in
            let page = try await client.read("/requests/1?since=yesteryear")
            #expect(page.status == 400)
            #expect(page.text.contains("since must be a time"))
        }
    }

    /// JSON cannot express these.
    @Test(arguments: [Double.nan, .infinity, -.infinity, -1, 1e308, 1.79e305])
    func nonsensicalPhaseIsLeftOutOfEveryAnswer(seconds: Double) async throws {
        try await withServer { client in
            let span = KeptRequests.span(1) {
                $0.attributes = [
                    "martlet.phase.queue": .double(seconds), "martlet.phase.tls": .double(seconds),
                    "martlet.phase.first_byte": .double(0.2),
                ]
            }
            try await KeptRequests.send([span], to: client)
            let list = try await client.get("/api/v1/requests")
            let report = try ReportJSON.value(of: RequestsReport.self, in: Data(buffer: list.body))
            let request = try #require(report.requests.first)
            #expect(request.phases == ["first_byte": 200])
            for path in ["/api/v1/requests/\(request.id)", "/requests"] {
                #expect(try await client.get(path).status == .ok)
            }
        }
    }

    @Test func requestToADatabaseHasNoPartsOfHTTP() async throws {
        try await withCalledSystems { client in
            let id = try await KeptRequests.id("since=1m&method=SELECT", from: client)
            let page = try await client.read("/requests/\(id)?since=1m")
            for text in [
                "SELECT users sent by shop 1.2 on shop-1, test to db.internal:5432 (postgresql), 2026-09-21 14:14:05",
                "Outcome ok Duration 250 ms Trace 1 span in 1 service", "db.query.text SELECT ?",
                "shop calls SELECT users",
            ] { #expect(page.text.contains(text), "\(text)") }
            for text in ["No headers", "No body", "Sent", "Connection", "As curl", "SELECT SELECT"] {
                #expect(!page.text.contains(text), "\(text)")
            }
            #expect(page.links.contains { $0.hasPrefix("/endpoint?") && $0.hasSuffix("&system=postgresql") })
            let refused = try await KeptRequests.id("since=1m&method=INSERT", from: client)
            #expect(try await client.read("/requests/\(refused)").text.contains("Error 23505 Duration"))
        }
    }
}
