import Fixtures
import Foundation
import Hummingbird
import HummingbirdTesting
import MartletServer
import MartletTelemetry
import Testing

/// Several read tokens, and those that may only read.
@Suite struct ReadTokenTests {
    private let tokens = ReadTokens([
        ReadToken(name: "team", secret: "may-clear"), ReadToken(name: "wall", secret: "may-read", mayClear: false),
    ])

    private func session(_ client: any TestClientProtocol, token: String) async throws -> String {
        let answer = try await client.executeRequest(
            uri: "/login", method: .post, headers: [.contentType: "application/x-www-form-urlencoded"],
            body: ByteBuffer(string: "token=" + token))
        return String(try #require(answer.headers[.setCookie]?.split(separator: ";").first))
    }

    private func status(
        _ client: any TestClientProtocol, _ method: HTTPRequest.Method, _ path: String, _ headers: HTTPFields
    ) async throws -> HTTPResponse.Status {
        try await client.executeRequest(uri: path, method: method, headers: headers, body: nil).status
    }

    @Test func tokenThatMayOnlyReadCannotClear() async throws {
        try await withServer(tokens: ServerTokens(read: tokens)) { client in
            let batch = try DetailsBatch(resource: Samples.resource(), details: [Samples.detail(1)]).otlp()
            #expect(try await client.post(batch, to: "/v1/traces").status == .ok)
            let kept = { try await client.get("/api/v1/requests", token: "may-read").text.contains("unavailable") }
            let reading: HTTPFields = [.authorization: "Bearer may-read"]
            let cookie: HTTPFields = [.cookie: try await session(client, token: "may-read")]
            #expect(try await status(client, .delete, "/api/v1/requests", reading) == .forbidden)
            for headers in [reading, cookie] {
                for method in [HTTPRequest.Method.get, .post] {
                    #expect(try await status(client, method, "/requests/clear", headers) == .forbidden)
                }
            }
            #expect(try await kept())
            let link = "/requests/clear"
            let list = try await client.executeRequest(uri: "/requests", method: .get, headers: cookie, body: nil)
            #expect(list.status == .ok && !list.text.contains(link))
            let other: HTTPFields = [.cookie: try await session(client, token: "may-clear")]
            let clearable = try await client.executeRequest(uri: "/requests", method: .get, headers: other, body: nil)
            #expect(clearable.text.contains(link))
            #expect(try await status(client, .post, link, other) == .seeOther)
            #expect(try await !kept())
        }
    }

    @Test func sessionEndsWithItsToken() async throws {
        let tokens = tokens
        try await withServer(tokens: ServerTokens(read: tokens)) { client in
            let team: HTTPFields = [.cookie: try await session(client, token: "may-clear")]
            let wall: HTTPFields = [.cookie: try await session(client, token: "may-read")]
            tokens.replace(with: [
                ReadToken(name: "team", secret: "new"), ReadToken(name: "wall", secret: "may-read"),
            ])
            #expect(try await status(client, .get, "/", team) == .unauthorized)
            #expect(try await client.get("/api/v1/agents", token: "may-clear").status == .unauthorized)
            #expect(try await client.get("/api/v1/agents", token: "new").status == .ok)
            #expect(try await status(client, .get, "/", wall) == .ok)
            // The token may clear now.
            #expect(try await status(client, .get, "/requests/clear", wall) == .ok)
        }
    }

    @Test(
        arguments: [
            ("a one\n# b\n\n b  two read-only \n", nil), ("one\n", "line 1 of"), ("a one\nb two three\n", "line 2 of"),
            ("a one\na two\n", "repeats a name"), ("a one\nb one\n", "repeats a token"),
            ("a \u{e9}\n", "contains a token that"),
            ("# none\n", "contains no token"),
        ] as [(String, String?)])
    func fileHasANameAndATokenOnEachLine(text: String, failure: String?) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("tokens")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        guard let failure else {
            let expected = [ReadToken(name: "a", secret: "one"), ReadToken(name: "b", secret: "two", mayClear: false)]
            return #expect(try TokenFile.readTokens(path) == expected)
        }
        let found = #expect(throws: FileFailure.self) { try TokenFile.readTokens(path) }
        let sentence = found?.description ?? ""
        #expect(sentence.contains(failure) && !sentence.contains("one") && !sentence.contains("two"))
    }
}

extension ReadTokens: ExpressibleByStringLiteral {
    /// One token, for a test.
    package convenience init(stringLiteral token: String) { self.init([ReadToken(secret: token)]) }
}
