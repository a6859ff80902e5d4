import Fixtures
import Foundation
import HummingbirdTesting
import MartletOTLP
import MartletSQLiteStorage
import MartletTelemetry
import Testing

/// The page of an endpoint names the services at the other end of its requests.
@Suite struct OtherSideTests {
    @Test func bothEndsOfAnEndpointAreShown() async throws {
        try await withServer { client in
            try await client.storeTwoMinutes()
            try await client.store(
                [Samples.dimensions(.server): EndpointRequests.repeated(0.09, 95)], end: 20, service: "accounts")
            let page = try await client.read(EndpointRequests.address)
            #expect(page.text.contains("called by checkout at api.example.com:443 , served by accounts"))
            #expect(page.text.contains("checkout 1.2 measured by the caller 100 20.00"))
            #expect(page.text.contains("accounts 1.2 measured by the server 95 0.00"))
            let served = try await client.read("/endpoint?since=1m&kind=server&endpoint=/users/%7Bid%7D")
            #expect(served.text.contains("served by accounts , called by checkout"))
            #expect(served.text.contains("None of 95 requests failed."))
            #expect(!served.text.contains("Where the time went"))
        }
    }

    /// A server may count remote procedure calls as requests over HTTP.
    @Test func linkToTheOtherSideSelectsEverySystem() async throws {
        let call = CalledSystems.request("grpc", "POST", "pay", 50051, "/Pay/Charge")
        var served = call
        (served.kind, served.system, served.status) = (.server, nil, 200)
        let fill = { [served] (storage: SQLiteStorage) in
            try await CalledSystems.count([(call, 5)], of: "shop", in: storage)
            try await CalledSystems.count([(served, 4)], of: "pay", in: storage)
        }
        try await withServer(filling: fill) { client in
            let endpoint = "method=POST&host=pay%3A50051&endpoint=%2FPay%2FCharge"
            let page = try await client.read("/endpoint?since=1m&kind=client&\(endpoint)&system=grpc")
            #expect(page.text.contains("called by shop at pay:50051 (grpc) , served by pay"))
            let link = "/endpoint?since=1m&\(endpoint)&service=pay&kind=server"
            #expect(page.links.contains(link))
            #expect(try await client.read(link).text.contains("None of 4 requests failed."))
        }
    }

    /// The server counts its requests without a host, as Swift's servers do.
    @Test func spansIdentifyTheServiceBehindACalledHost() async throws {
        try await withServer { client in
            try await client.storeTwoMinutes()
            var served = Samples.dimensions(.server)
            (served.host, served.port) = ("", 0)
            for service in ["accounts", "other"] {
                try await client.store([served: EndpointRequests.repeated(0.09, 95)], end: 20, service: service)
            }
            #expect(try await !client.read(EndpointRequests.address).text.contains("served by"))

            let (call, answer) = (try span(1, Samples.dimensions()), try span(2, served, below: 1))
            for (service, span) in [("checkout", call), ("accounts", answer)] {
                let batch = DetailsBatch(resource: Samples.resource(service), details: [span])
                #expect(try await client.post(try batch.otlp(), to: "/v1/traces").status == .ok)
            }
            let page = try await client.read(EndpointRequests.address)
            #expect(page.text.contains("called by checkout at api.example.com:443 , served by accounts"))
            #expect(page.text.contains("accounts 1.2 measured by the server 95 0.00"))
            #expect(!page.text.contains("other 1.2"))
            let rest = "&method=GET&endpoint=%2Fusers%2F%7Bid%7D&service=accounts&kind=server"
            #expect(page.links.contains("/endpoint?since=1m\(rest)&host="), "\(page.links)")
            #expect(page.links.contains("/requests?since=1m\(rest)&version=1.2&host="), "\(page.links)")
        }
    }

    private static var proxied: RequestDimensions {
        var dimensions = Samples.dimensions()
        dimensions.host = "proxy"
        return dimensions
    }

    /// Senders choose the hosts in their spans, so there may be many.
    @Test func linksWorkIfThereAreMoreHostsThanAnAddressAllows() async throws {
        try await withServer { client in
            try await client.storeTwoMinutes()
            var served = Samples.dimensions(.server)
            try await client.store([served: EndpointRequests.repeated(0.09, 95)], end: 20, service: "elsewhere")
            for number in 1...20 as ClosedRange<UInt8> {
                (served.host, served.port) = ("behind-\(number)", 80)
                try await client.store([served: EndpointRequests.repeated(0.09, 2)], end: 20, service: "accounts")
                let spans = [
                    ("checkout", try span(number, Self.proxied)),
                    ("accounts", try span(number + 100, served, below: number)),
                ]
                for (service, span) in spans {
                    let batch = DetailsBatch(resource: Samples.resource(service), details: [span])
                    #expect(try await client.post(try batch.otlp(), to: "/v1/traces").status == .ok)
                }
            }
            try await client.store([Self.proxied: EndpointRequests.repeated(0.1, 40)], end: 20)
            let page = try await client.read(EndpointRequests.address.replacing("api.example.com", with: "proxy"))
            #expect(page.text.contains("accounts 1.2 measured by the server 40 0.00"), "\(page.text)")
            let link = try #require(page.links.first { $0.hasPrefix("/endpoint?") && $0.contains("service=accounts") })
            #expect(try await client.read(link).text.contains("None of 40 requests failed."))
        }
    }

    private func span(_ number: UInt8, _ request: RequestDimensions, below parent: UInt8? = nil) throws -> SpanRecord {
        var span = Samples.detail(number)
        (span.kind, span.start, span.request) = (request.kind == .client ? .client : .server, Samples.time(15), request)
        if let above = parent.map(Samples.detail) { (span.traceID, span.parentSpanID) = (above.traceID, above.spanID) }
        return span
    }

    @Test func serviceIsNotListedAsItsOwnCaller() async throws {
        try await withServer { client in
            try await client.storeTwoMinutes()
            let service = try await client.read("/endpoint?since=1m&service=checkout").text
            #expect(service.contains("Overview checkout outgoing requests"))
            let all = try await client.read("/endpoint?since=1m").text
            #expect(all.contains("Overview All outgoing requests"))
            #expect(!service.contains("called by") && !all.contains("called by"))
        }
    }
}
