import Fixtures
import Hummingbird
import HummingbirdTesting
import MartletOTLP
import MartletTelemetry
import Testing

@testable import MartletServer

/// Who can read the page.
@Suite struct PageAccessTests {
    private let tokens = ServerTokens(ingest: "may-send", read: "may-read")

    private func form(_ client: any TestClientProtocol, _ body: String) async throws -> TestResponse {
        try await client.executeRequest(
            uri: "/login", method: .post, headers: [.contentType: "application/x-www-form-urlencoded"],
            body: ByteBuffer(string: body))
    }

    private func get(_ client: any TestClientProtocol, _ uri: String, cookie: String) async throws -> TestResponse {
        try await client.executeRequest(uri: uri, method: .get, headers: [.cookie: cookie], body: nil)
    }

    private func session(_ response: TestResponse) throws -> String {
        let cookie = try #require(response.headers[.setCookie])
        return String(try #require(cookie.split(separator: ";").first))
    }

    @Test func readTokenOpensASessionThatReadsThePageAndTheAPI() async throws {
        try await withServer(tokens: tokens) { client in
            let asked = try await client.get("/?since=6h")
            #expect(asked.status == .unauthorized)
            #expect(asked.text.contains("Read token"))
            #expect(asked.text.contains(#"name="next" value="/?since=6h""#))
            #expect(asked.headers[.wwwAuthenticate] == nil)

            let answer = try await form(client, "token=may-read&next=%2F%3Fsince%3D6h")
            #expect(answer.status == .seeOther)
            #expect(answer.headers[.location] == "/?since=6h")
            let cookie = try #require(answer.headers[.setCookie])
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && cookie.contains("Path=/"))
            #expect(!cookie.contains("may-read"))

            let session = try session(answer)
            for path in ["/", "/api/v1/report", "/metrics"] {
                #expect(try await get(client, path, cookie: "other=1; " + session).status == .ok)
            }
            #expect(try await get(client, "/", cookie: session).text.contains("Sign out"))
        }
    }

    @Test func sessionCannotDeleteThroughTheAPI() async throws {
        let path = "/api/v1/requests"
        try await withServer(tokens: tokens) { client in
            let kept = { try await client.get(path, token: "may-read").text.contains("unavailable") }
            let batch = try DetailsBatch(resource: Samples.resource(), details: [Samples.detail(1)]).otlp()
            #expect(try await client.post(batch, to: "/v1/traces", token: "may-send").status == .ok)
            let session = try session(try await form(client, "token=may-read"))
            for path in [path, "/" + path, "/api//v1/requests"] {
                let refused = try await client.executeRequest(
                    uri: path, method: .delete, headers: [.cookie: session], body: nil)
                #expect(refused.status == .unauthorized)
                #expect(try await kept())
            }
            // The token itself allows deleting them.
            _ = try await client.executeRequest(
                uri: path, method: .delete, headers: [.authorization: "Bearer may-read"], body: nil)
            #expect(try await !kept())
        }
    }

    @Test func sessionEndsAfterTwelveHours() async throws {
        let hour: UInt64 = 3_600_000_000_000
        let clock = Clock()
        clock.time = Samples.time(0)
        try await withServer(tokens: tokens, now: { clock.time }) { client in
            let first = try session(try await form(client, "token=may-read"))
            clock.time += hour
            let second = try session(try await form(client, "token=may-read"))
            clock.time += 11 * hour - 1
            #expect(try await get(client, "/", cookie: first).status == .ok)
            clock.time += 1
            #expect(try await get(client, "/", cookie: first).status == .unauthorized)
            #expect(try await get(client, "/api/v1/report", cookie: first).status == .unauthorized)
            #expect(try await get(client, "/", cookie: second).status == .ok)
        }
    }

    @Test func signingOutEndsTheSession() async throws {
        try await withServer(tokens: tokens) { client in
            let session = try session(try await form(client, "token=may-read"))
            let answer = try await client.executeRequest(
                uri: "/logout", method: .post, headers: [.cookie: session], body: nil)
            #expect(answer.status == .seeOther)
            #expect(try #require(answer.headers[.setCookie]).contains("Max-Age=0"))
            #expect(try await get(client, "/", cookie: session).status == .unauthorized)
        }
    }

    @Test(arguments: ["", "token=", "token=may-rea", "token=may-send", "token=may-read2", "next=%2F"])
    func wrongTokenIsRefusedWithASentence(body: String) async throws {
        try await withServer(tokens: tokens) { client in
            let refused = try await form(client, body)
            #expect(refused.status == .unauthorized)
            #expect(refused.text.contains("The read token is wrong."))
            #expect(refused.headers[.setCookie] == nil)
        }
    }

    @Test(arguments: ["", "martlet_session=", "martlet_session=1-2-3-4", "martlet_session=may-read"])
    func madeUpSessionIsRefused(cookie: String) async throws {
        try await withServer(tokens: tokens) { client in
            let answer = try await get(client, "/", cookie: cookie)
            #expect(answer.status == .unauthorized)
        }
    }

    @Test func rightTokenPassesAfterManyWrongOnes() async throws {
        var limits = ServerLimits()
        limits.delayAfterWrongTokens = {}
        try await withServer(tokens: tokens, serverLimits: limits) { client in
            for number in 0..<12 {
                let wrong = try await form(client, "token=x\(number)")
                #expect(wrong.status == .unauthorized)
            }
            #expect(try await form(client, "token=may-read").status == .seeOther)
        }
    }

    /// A browser is at this address after a wrong token.
    @Test func loginAddressLeadsToTheOverview() async throws {
        try await withServer(tokens: tokens) { client in
            let fromElsewhere = try #require(HTTPFields.Element.Name("Sec-Fetch-Site"))
            let answer = try await client.executeRequest(
                uri: "/login", method: .get, headers: [fromElsewhere: "cross-site"], body: nil)
            #expect((answer.status, answer.headers[.location]) == (.seeOther, "/"))
        }
    }

    @Test(arguments: [
        "//evil.example", "/\\evil.example", "/.//evil.example", "/x/..//evil.example", "https://evil.example", "evil",
        "", "/a\r\nSet-Cookie: x=y", "/\u{e9}",
    ])
    func loginNeverLeadsToAnotherSite(next: String) async throws {
        let encoded = next.utf8.map { "%" + String(0x100 + Int($0), radix: 16).dropFirst() }.joined()
        try await withServer(tokens: tokens) { client in
            let answer = try await form(client, "token=may-read&next=" + encoded)
            #expect(answer.headers[.location] == "/")
        }
    }

    @Test func pageLoadsNothingFromOtherSites() async throws {
        try await withServer { client in
            let page = try await client.get("/")
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(
                page.headers[.contentSecurityPolicy]
                    == "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                    + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
            for elsewhere in [" style=", "href=\"http", "src=\"http", "href=\"//", "src=\"//"] {
                #expect(!page.text.contains(elsewhere))
            }
            for (start, type) in [("/martlet.css?v=", "text/css"), ("/martlet.js?v=", "text/javascript")] {
                let address = try #require(page.text.split(separator: "\"").first { $0.hasPrefix(start) })
                let file = try await client.get(String(address))
                #expect(try #require(file.headers[.contentType]).hasPrefix(type))
                #expect(try #require(file.headers[.cacheControl]).contains("immutable"))
            }
        }
    }
}

/// The host names under which a browser may reach the collector.
@Suite struct AllowedHostTests {
    @Test(arguments: [
        "127.0.0.1:4318", "[::1]:4318", "[::1]", "10.1.2.3", "localhost:4318", "LOCALHOST", "shop.localhost",
        "collector:4318",
    ])
    func requestsToAddressesAndLocalNamesAreAnswered(host: String) async throws {
        #expect(AllowedHosts().allow(host))
    }

    @Test(arguments: [
        "evil.example", "evil.example:4318", "127.0.0.1.evil.example", "10.1.2.3.4", "[evil.example]:80", "a.b",
        "[::1].evil.com", "[::1]evil.com:80", "[x]evil.com", "user:pw@evil.com", ":evil.com", "", "evil.com#.localhost",
        "evil.com?.localhost", "evil\u{3002}com", "evil%2ecom", "localhost:evil.com",
    ])
    func requestsToOtherNamesAreRefusedUnlessAllowed(host: String) {
        #expect(!AllowedHosts().allow(host))
        #expect(!AllowedHosts(["metrics.example"]).allow(host))
    }

    /// A page of evil.example that pointed its name at 127.0.0.1 cannot read anything.
    @Test func refusalOfAnotherSitesNameMentionsTheFlagThatAllowsIt() async throws {
        try await withServer { client in
            try await RawConnection.open(port: client.port) { connection in
                for path in ["/", "/api/v1/report", "/metrics", "/martlet.css"] {
                    try await connection.send("GET \(path) HTTP/1.1\r\nHost: evil.example:4318\r\n\r\n")
                    let answer = try #require(try await connection.answer())
                    #expect(answer.status == 421)
                    #expect(answer.text.contains("--allowed-host evil.example"))
                }
                try await connection.send("GET /healthz HTTP/1.1\r\nHost: evil.example:4318\r\n\r\n")
                #expect(try await connection.answer()?.status == 200)
            }
        }
    }

    /// Another site's page has no token to send.
    @Test func readTokenIsEnoughUnderEveryName() async throws {
        try await withServer(tokens: ServerTokens(read: "may-read")) { client in
            try await RawConnection.open(port: client.port) { connection in
                try await connection.send(
                    "GET /api/v1/report HTTP/1.1\r\nHost: apm.example\r\nAuthorization: Bearer may-read\r\n\r\n")
                #expect(try await connection.answer()?.status == 200)
            }
        }
    }
}
