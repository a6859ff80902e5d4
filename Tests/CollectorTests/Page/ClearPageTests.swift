import Fixtures
import Hummingbird
import HummingbirdTesting
import MartletServer
import MartletTelemetry
import Testing

@Suite struct ClearPageTests {
    private func post(
        _ query: String = "", _ headers: HTTPFields = [:], to client: any TestClientProtocol
    ) async throws -> TestResponse {
        try await client.executeRequest(uri: "/requests/clear\(query)", method: .post, headers: headers, body: nil)
    }

    @Test func pageAsksForConfirmationAndDeletesNothing() async throws {
        try await withServer { client in
            try await KeptRequests.send([KeptRequests.span(1), KeptRequests.span(2)], to: client)
            let page = try await client.read("/requests/clear?since=6h")
            #expect(page.text.contains("Clear the details of 2 requests?"))
            #expect(page.markup.contains(#"<form method="post" action="/requests/clear?since=6h">"#))
            #expect(page.links.contains("/requests?since=6h"))
            #expect(try await client.read("/requests").text.contains("2 of 2"))
        }
    }

    @Test func keptRequestsAreDeletedAndTheCountsStay() async throws {
        try await withServer { client in
            try await KeptRequests.count(to: client)
            try await KeptRequests.send([KeptRequests.span(1), KeptRequests.span(2)], to: client)
            let response = try await post("?since=6h", to: client)
            #expect(response.status == .seeOther)
            #expect(response.headers[.location] == "/requests?since=6h&cleared=2")
            let page = try await client.read("/requests?since=6h&cleared=2")
            #expect(page.text.contains("2 kept requests and spans were deleted"))
            #expect(page.text.contains("5 outgoing requests in the last 6 h; none of them is kept."))
            #expect(!page.links.contains { $0.contains("cleared") } && !page.markup.contains(#"name="cleared""#))
        }
    }

    @Test func anotherSiteCannotDelete() async throws {
        try await withServer { client in
            try await KeptRequests.send([KeptRequests.span(1)], to: client)
            let name = try #require(HTTPFields.Element.Name("Sec-Fetch-Site"))
            let response = try await post("", [name: "cross-site"], to: client)
            #expect(response.status == .forbidden)
            #expect(String(buffer: response.body).contains("Nothing was deleted"))
            #expect(try await client.read("/requests").text.contains("1 of 1"))
            #expect(try await post("", [name: "same-origin"], to: client).status == .seeOther)
            #expect(try await client.read("/requests").text.contains("No request is kept"))
        }
    }

    @Test func badParameterReturns400AndDeletesNothing() async throws {
        try await withServer { client in
            try await KeptRequests.send([KeptRequests.span(1)], to: client)
            #expect(try await post("?since=perhaps", to: client).status == .badRequest)
            #expect(try await client.read("/requests").text.contains("1 of 1"))
        }
    }
}
