import Fixtures
import MartletSQLiteStorage
import MartletTelemetry
import Testing

/// The page of a served endpoint shows what it calls for each request.
@Suite struct CallsSectionTests {
    private let address = "/endpoint?since=30s&service=todos&kind=server&method=GET&endpoint=/gallery"

    /// Counts 20 requests with a call each, and in the 30 seconds after them 20 with 38 each.
    private func count(in storage: SQLiteStorage) async throws {
        for (end, calls) in [(20, 20), (50, 760)] as [(UInt64, Int)] {
            try await Gallery.count(
                [(Gallery.served(), 20, 0.1), (Gallery.called(), calls, 0.002)], end: end, in: storage)
        }
    }

    @Test func callsForEachRequestAreShownNowAndBefore() async throws {
        try await withServer(filling: count) { client in
            let page = try await client.read(address)
            #expect(
                page.text.contains(
                    "What it calls Called Per request 30 s before Of its time % GET /files/{name} files:80 38.0 1.00 76.0"
                ),
                "\(page.text)")
            #expect(page.text.contains("All outgoing requests of todos, divided by the 20 requests that it served."))
            let link = try #require(page.links.first { $0.contains("kind=client") && $0.contains("host=files%3A80") })
            #expect(try await client.read(link).text.contains("None of 760 requests failed."))
        }
    }

    @Test func keptTracesAreNamedAsTheSourceAndSpansNameTheCalledService() async throws {
        let fill = { [self] (storage: SQLiteStorage) in
            try await count(in: storage)
            try await Gallery.count([(Gallery.served("/search"), 5, 0.1)], end: 50, in: storage)
            let call = Gallery.span(2, Gallery.called(), in: 1, under: 1, at: 45)
            try await Gallery.keep([Gallery.span(1, Gallery.served(), in: 1, at: 45), call], in: storage)
            var served = Gallery.served("/files/{name}")
            (served.host, served.port) = ("files-1", 8080)
            try await Gallery.keep([Gallery.span(3, served, in: 1, under: 2, at: 45)], of: "files", in: storage)
        }
        try await withServer(filling: fill) { client in
            let text = try await client.read(address).text
            #expect(text.contains("GET /files/{name} files at files:80 38.0 1.00 76.0"), "\(text)")
            let source =
                "By 1 kept trace: todos also served other requests, and the kept traces show which calls belong to these 20"
            #expect(text.contains(source))
            let search = try await client.read(address.replacing("/gallery", with: "/search")).text
            #expect(!search.contains("What it calls"))
        }
    }

    @Test func callsThatNoTraceExplainsAreNamedUnknown() async throws {
        let fill = { [self] (storage: SQLiteStorage) in
            try await count(in: storage)
            try await Gallery.count([(Gallery.served("/search"), 5, 0.1)], end: 50, in: storage)
        }
        try await withServer(filling: fill) { client in
            let text = try await client.read(address).text
            #expect(text.contains("No kept trace shows which requests call 1 more endpoint."))
            #expect(!text.contains("38.0"))
        }
    }

    @Test func outgoingRequestsAndEndpointsOfSeveralServicesHaveNone() async throws {
        let fill = { [self] (storage: SQLiteStorage) in
            try await count(in: storage)
            try await Gallery.count([(Gallery.served(), 5, 0.1)], end: 50, of: "other", in: storage)
        }
        try await withServer(filling: fill) { client in
            let all = address.replacing("service=todos&", with: "")
            for address in [
                all, "/endpoint?since=30s&service=todos&kind=client",
                "/endpoint?since=30s&service=todos&kind=server",
            ] {
                let text = try await client.read(address).text
                #expect(!text.contains("What it calls"), "\(address)")
            }
            let text = try await client.read(all + "&service=todos").text
            #expect(text.contains("What it calls"))
        }
    }
}
