import Foundation
import HummingbirdTesting
import MartletServer
import Testing

/// Header fields and bodies of all kinds of answers.
@Suite struct AnswerHeaderTests {
    @Test func everyAnswerHasTheSecurityHeaders() async throws {
        try await withServer(tokens: ServerTokens(ingest: "a", read: "b")) { client in
            for response in [
                try await client.get("/healthz"),
                try await client.get("/api/v1/report", token: "b"), try await client.get("/api/v1/report"),
                try await client.get("/api/v1/report?top=x", token: "b"), try await client.get("/nothing"),
                try await client.post(try Samples.body(), token: "a"), try await client.post([0xff], token: "a"),
                try await client.post([]), try await client.get("/v1/metrics", token: "a"),
            ] {
                #expect(response.headers[.xContentTypeOptions] == "nosniff")
                #expect(response.headers[.cacheControl] == "no-store")
                #expect(response.headers[.contentSecurityPolicy] == "default-src 'none'; frame-ancestors 'none'")
                #expect(response.headers.first { $0.name.canonicalName == "referrer-policy" }?.value == "no-referrer")
            }
        }
    }

    @Test func unknownAddressIs404InJSON() async throws {
        try await withServer { client in
            for path in ["/nothing", "/api/v1/nothing", "/v1x/metrics", "/../etc/passwd", "/api/v1/"] {
                let response = try await client.get(path)
                #expect(response.status == .notFound)
                #expect(response.headers[.contentType] == "application/json; charset=utf-8")
                let body = try JSONDecoder().decode([String: String].self, from: Data(buffer: response.body))
                #expect(body == ["error": "there is nothing at this path"])
            }
        }
    }

    @Test func browserGetsAPageForAnUnknownAddress() async throws {
        try await withServer { client in
            for (path, type) in [
                ("/nothing", "text/html; charset=utf-8"), ("/endpoints?service=shop", "text/html; charset=utf-8"),
                ("/api/v1/nothing", "application/json; charset=utf-8"), ("/v1/nothing", "application/x-protobuf"),
            ] {
                let accepted = "text/html,application/xhtml+xml,*/*;q=0.8"
                try await client.execute(uri: path, method: .get, headers: [.accept: accepted]) { response in
                    #expect(response.status == .notFound)
                    #expect(response.headers[.contentType] == type)
                    let isPage = String(buffer: response.body).contains("<h1>Not found</h1>")
                    #expect(isPage == (type.hasPrefix("text/html")))
                }
            }
        }
    }

    @Test func headAnswersLikeGetWithoutTheBody() async throws {
        try await withServer(tokens: ServerTokens(ingest: "a", read: "b")) { client in
            try await RawConnection.open(port: client.port) { connection in
                for (path, status) in [
                    ("/", 401), ("/healthz", 200), ("/readyz", 200), ("/api/v1/report", 401), ("/metrics", 401),
                    ("/nothing", 404), ("/v1/profiles", 404), ("/v1/metrics", 405),
                ] {
                    try await connection.expectSameOfHeadAndGet(path, status)
                }
            }
        }
        try await withServer(prepare: { await $0.requests.drain() }) { client in
            try await RawConnection.open(port: client.port) { connection in
                for path in ["/readyz", "/api/v1/report", "/v1/metrics"] {
                    try await connection.expectSameOfHeadAndGet(path, 503)
                }
            }
        }
    }

    @Test func headOfAStreamedPageHasTheLengthAndNoBody() async throws {
        try await withServer { client in
            let page = try await client.get("/metrics")
            try await RawConnection.open(port: client.port) { connection in
                try await connection.send("HEAD /metrics HTTP/1.1\r\nHost: test\r\n\r\n")
                let head = try await connection.answer(toHead: true)
                #expect(head?.status == 200)
                #expect(head?.headers["content-type"] == page.headers[.contentType])
                #expect(head?.headers["transfer-encoding"] == nil)
                // The page shows figures of the collector, and they change.
                let length = try #require(head?.headers["content-length"].flatMap { Int($0) })
                #expect(abs(length - page.body.readableBytes) < 100)
                try await connection.expectSameOfHeadAndGet("/healthz", 200)
            }
        }
    }

    /// Checks the body and the header fields.
    @Test func failureQuotesNothingFromTheRequest() async throws {
        let mark = "r3flect3d"
        try await withServer(tokens: ServerTokens(ingest: "a", read: "b")) { client in
            for response in [
                try await client.get("/\(mark)"), try await client.get("/api/v1/\(mark)", token: "b"),
                try await client.get("/api/v1/report?\(mark)=1", token: "b"),
                try await client.get("/api/v1/report?since=\(mark)", token: "b"),
                try await client.get("/api/v1/report?by=\(mark)&sort=\(mark)", token: "b"),
                try await client.get("/api/v1/report", token: mark),
                try await client.post(Array(mark.utf8), token: "a"),
                try await client.post(Array(mark.utf8), type: "application/json", token: "a"),
                try await client.post([], type: mark, token: "a"),
                try await client.post([], encoding: mark, token: "a"),
                try await client.post([], batch: mark, token: "a"), try await client.post([], token: mark),
            ] {
                #expect((400..<500).contains(response.status.code))
                #expect(!String(buffer: response.body).contains(mark))
                #expect(!response.headers.contains { $0.value.contains(mark) })
            }
        }
    }
}

extension RawConnection {
    fileprivate mutating func expectSameOfHeadAndGet(_ path: String, _ status: Int) async throws {
        for method in ["HEAD", "GET"] { try await send("\(method) \(path) HTTP/1.1\r\nHost: test\r\n\r\n") }
        let head = try await answer(toHead: true)
        let get = try await answer()
        #expect(head?.status == status)
        #expect(get?.status == status)
        #expect(head?.headers.filter { $0.key != "date" } == get?.headers.filter { $0.key != "date" })
        #expect(get?.body.isEmpty == false)
    }
}
