import Fixtures
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import MartletServer

/// Methods that a path does not have.
@Suite struct OtherMethodsTests {
    private func ask(
        _ client: any TestClientProtocol, _ path: String, _ method: HTTPRequest.Method
    ) async throws -> TestResponse {
        try await client.executeRequest(uri: path, method: method, headers: [:], body: nil)
    }

    @Test(arguments: [
        "/api/v1/findings", "/api/v1/report", "/api/v1/requests/1f", "/api/v1/values/service", "/api/v1/openapi.json",
        "/healthz",
        "/readyz", "/metrics",
    ])
    func pathForProgramsListsItsMethodsInJSON(path: String) async throws {
        try await withServer { client in
            for method in [.post, .put, .delete, .options] as [HTTPRequest.Method] {
                let answer = try await ask(client, path, method)
                #expect(answer.status == .methodNotAllowed)
                #expect(answer.headers[.allow] == "GET, HEAD")
                #expect(answer.text.contains("the allowed methods are GET, HEAD"))
            }
        }
    }

    @Test(arguments: [
        ("/", "GET, HEAD"), ("/endpoint", "GET, HEAD"), ("/requests", "GET, HEAD"), ("/requests/1f", "GET, HEAD"),
        ("/traces/1f", "GET, HEAD"), ("/map", "GET, HEAD"), ("/agents", "GET, HEAD"),
        ("/requests/clear", "GET, HEAD, POST"), ("/login", "GET, HEAD, POST"),
    ])
    func viewListsItsMethodsOnAPage(path: String, allowed: String) async throws {
        try await withServer { client in
            let answer = try await ask(client, path, .put)
            #expect(answer.status == .methodNotAllowed)
            #expect(answer.headers[.allow] == allowed)
            #expect(answer.headers[.contentType] == "text/html; charset=utf-8")
        }
    }

    @Test func signingOutTakesOnlyPOST() async throws {
        try await withServer { client in
            let answer = try await ask(client, "/logout", .get)
            #expect(answer.status == .methodNotAllowed)
            #expect(answer.headers[.allow] == "POST")
        }
    }

    @Test func apiPathThatDeletesListsDELETE() async throws {
        try await withServer { client in
            let answer = try await ask(client, "/api/v1/requests", .post)
            #expect(answer.status == .methodNotAllowed)
            #expect(answer.headers[.allow] == "GET, HEAD, DELETE")
        }
    }
}
