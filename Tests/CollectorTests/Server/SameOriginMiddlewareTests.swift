import Hummingbird
import HummingbirdTesting
import Testing

@testable import MartletServer

@Suite struct SameOriginMiddlewareTests {
    /// Returns the status of a request to `localhost`.
    private func status(_ headers: [(String, String)]) async throws -> HTTPResponse.Status {
        let router = Router()
        router.add(middleware: SameOriginMiddleware { Response(status: .forbidden) })
        router.post("/") { _, _ in Response(status: .ok) }
        let fields = try headers.reduce(into: HTTPFields()) { fields, header in
            fields.append(HTTPFields.Element(name: try #require(HTTPFields.Element.Name(header.0)), value: header.1))
        }
        return try await Application(router: router).test(.router) {
            try await $0.executeRequest(uri: "/", method: .post, headers: fields, body: nil).status
        }
    }

    @Test(arguments: ["same-origin", "none"])
    func collectorPageAndUserMayChangeThings(site: String) async throws {
        #expect(try await status([("Sec-Fetch-Site", site)]) == .ok)
        #expect(try await status([("Sec-Fetch-Site", site), ("Origin", "null")]) == .ok)
    }

    @Test(arguments: ["cross-site", "same-site", "", "Same-Origin", "same-origin, cross-site"])
    func otherSiteMayNotChangeThings(site: String) async throws {
        #expect(try await status([("Sec-Fetch-Site", site), ("Origin", "http://localhost")]) == .forbidden)
    }

    @Test func twoSiteFieldsAreRefused() async throws {
        #expect(try await status([("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")]) == .forbidden)
    }

    /// A proxy in front of the collector may have another scheme.
    @Test(arguments: ["http://localhost", "https://localhost", "http://LOCALHOST"])
    func withoutTheSiteFieldTheOriginMustBeTheHost(origin: String) async throws {
        #expect(try await status([("Origin", origin)]) == .ok)
    }

    @Test(arguments: [
        "http://localhost:4318", "http://localhost.example.com", "http://example.com", "null", "",
        "localhost",
    ])
    func otherOriginMayNotChangeThings(origin: String) async throws {
        #expect(try await status([("Origin", origin)]) == .forbidden)
    }

    @Test func programWithNeitherFieldMayChangeThings() async throws {
        #expect(try await status([]) == .ok)
    }
}
