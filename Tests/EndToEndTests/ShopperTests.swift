import Fixtures
import Foundation
import Testing

/// The exit status of the shopper, which `deploy/compose.yaml` restarts on failure.
@Suite struct ShopperTests {
    private func visit(_ storefront: String) async throws -> (status: Int32, output: String) {
        let end = try await ChildProcess(.shopper, ["--storefront", storefront, "--requests", "20"]).finish()
        return (end.status, end.output)
    }

    @Test func shopperFailsIfNoVisitHadAnAnswer() async throws {
        let visits = try await visit("http://127.0.0.1:1")
        #expect(visits.status == 1)
        #expect(visits.output.contains("no answer"))
    }

    @Test func shopperSucceedsAfterAnyAnswer() async throws {
        try await ShopServer().run { server in
            let visits = try await visit(server.absoluteString)
            #expect(visits.status == 0)
            #expect(visits.output.contains("404"))
        }
    }
}
