import Fixtures
import HummingbirdTesting
import MartletTelemetry
import Testing

@Suite struct HostsTableTests {
    private static func batch(_ service: String, calls hosts: [String: Int]) throws -> [UInt8] {
        let series = hosts.map { host, count in
            var dimensions = Samples.dimensions(endpoint: "/of-\(host)")
            dimensions.host = host
            return (dimensions, Samples.statistics(Array(repeating: 0.1, count: count)))
        }
        return try MetricsBatch(
            resource: Samples.resource(service, instance: "\(service)-1"), start: Samples.time(40),
            end: Samples.time(50), series: Dictionary(uniqueKeysWithValues: series), ledger: Ledger(captured: 1)
        ).otlp()
    }

    @Test func calledHostsLinkToTheirEndpoints() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(try Self.batch("shop", calls: ["pay": 5, "mail": 2]))
            _ = try await client.post(try Self.batch("desk", calls: ["pay": 1]))
            let page = try await client.read("/?since=1m")
            #expect(page.text.contains("Hosts called 2"))
            #expect(page.text.contains("pay:443 desk and shop 6 0.00"))
            #expect(page.text.contains("mail:443 shop 2 0.00"))
            let address = "/?since=1m&host=pay%3A443&kind=client"
            #expect(page.links.contains(address))
            let ofHost = try await client.read(address)
            #expect(ofHost.text.contains("/of-pay"))
            #expect(!ofHost.text.contains("/of-mail"))
            #expect(!ofHost.text.contains("Hosts called"))
            #expect(ofHost.text.contains("only host pay:443 leave out"))
            #expect(ofHost.links.contains("/?since=1m&kind=client"))
        }
    }

    @Test func allHostsAreShownIfTheAddressAsksForThem() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            let hosts = Dictionary(uniqueKeysWithValues: (1...25).map { ("host\($0)", $0) })
            _ = try await client.post(try Self.batch("shop", calls: hosts))
            let page = try await client.read("/?since=1m")
            #expect(page.text.contains("host6:443 shop 6") && !page.text.contains("host5:443 shop 5"))
            #expect(page.links.contains("/?since=1m&top=25"))
            let all = try await client.read("/?since=1m&top=25")
            #expect(all.text.contains("host1:443 shop 1"))
        }
    }

    @Test func singleHostHasNoTable() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(try Self.batch("shop", calls: ["pay": 5]))
            let page = try await client.read("/?since=1m")
            #expect(page.text.contains("None of 5 requests failed"))
            #expect(!page.text.contains("Hosts called"))
        }
    }

    @Test func calledSystemIsUnderItsHost() async throws {
        try await withCalledSystems { client in
            let page = try await client.read("/?since=1m")
            #expect(page.text.contains("Hosts called 3"))
            for row in [
                "db.internal:5432 postgresql desk and shop 9 22.22", "es:9200 elasticsearch shop 4 0.00",
                "es:9200 shop 3 0.00", "SELECT users shop → db.internal:5432 (postgresql)",
                "GET /_cluster/health shop → es:9200",
            ] { #expect(page.text.contains(row), "\(row)") }
            #expect(page.commands.contains { $0.hasSuffix(" --by host --by system") })
            #expect(page.commands.contains { $0.hasSuffix(" --by host --by endpoint --by system") })
        }
    }

    @Test func linkOfAHostSelectsItsSystem() async throws {
        try await withCalledSystems { client in
            let links = try await client.read("/?since=1m").links
            for (link, sentence) in [
                ("host=db.internal%3A5432&kind=client&system=postgresql", "2 of 9 requests failed"),
                ("host=es%3A9200&kind=client&system=elasticsearch", "None of 4 requests failed"),
                ("host=es%3A9200&kind=client&system=", "None of 3 requests failed"),
            ] {
                #expect(links.contains("/?since=1m&\(link)"))
                #expect(try await client.read("/?since=1m&\(link)").text.contains(sentence), "\(link)")
            }
        }
    }
}
