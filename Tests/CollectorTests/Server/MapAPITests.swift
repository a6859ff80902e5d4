import Foundation
import HummingbirdTesting
import MartletReports
import Testing

/// The map on the API.
@Suite struct MapAPITests {
    private func withMap(_ body: @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            let shop = try CallBatch.body(
                "shop", [(.client, "pay", 10, nil), (.client, "mail", 3, nil), (.server, "shop", 5, nil)])
            let pay = try CallBatch.body("pay", [(.server, "pay", 8, nil), (.client, "bank", 4, nil)])
            for body in [shop, pay] { _ = try await client.post(body) }
            try await body(client)
        }
    }

    private func report(_ query: String, _ client: any TestClientProtocol) async throws -> MapReport {
        let response = try await client.get("/api/v1/map?since=1m" + query)
        #expect(response.status == .ok)
        return try ReportJSON.value(of: MapReport.self, in: Data(buffer: response.body))
    }

    private func texts(_ report: MapReport) -> [String] { report.edges.map { "\($0.caller.name) > \($0.callee.name)" } }

    @Test func eachEdgeHasTheCountsOfBothEnds() async throws {
        try await withMap { client in
            let map = try await report("", client)
            #expect(texts(map) == ["shop > pay", "Callers outside > shop", "pay > bank:443", "shop > mail:443"])
            #expect(map.edgeCount == 4)
            #expect(map.completeness == 1)
            let edge = try #require(map.edges.first)
            #expect(edge.sent?.count == 10 && edge.arrived?.count == 8)
            #expect(edge.lost == 0 && edge.uncounted == 2)
            #expect(map.edges[1].sent == nil && map.edges[1].lost == nil && map.edges[1].sharedBy == nil)
            #expect(map.edges[2].arrived == nil && map.edges[2].uncounted == nil)
        }
    }

    /// Callers without an agent have no name.
    @Test func edgeDistinguishesItsTwoEnds() async throws {
        try await withMap { client in
            let response = try await client.get("/api/v1/map?since=1m&service=shop")
            let text = String(buffer: response.body)
            #expect(text.contains("\"caller\" : null"))
            #expect(text.contains("\"host\" : \"mail:443\""))
            #expect(text.contains("\"service\" : \"pay\""))
        }
    }

    @Test func serviceSelectsItsEdgesAndALimitTheLargest() async throws {
        try await withMap { client in
            #expect(try await texts(report("&service=pay", client)) == ["shop > pay", "pay > bank:443"])
            let cut = try await report("&top=1", client)
            #expect(texts(cut) == ["shop > pay"])
            #expect(cut.edgeCount == 4)
            #expect(try await report("&environment=none", client).edges.isEmpty)
        }
    }

    @Test(arguments: ["host=pay", "top=0", "since=later", "service=a&service=b&top=1&top=2"])
    func invalidParameterIs400(query: String) async throws {
        try await withServer { client in
            let response = try await client.get("/api/v1/map?" + query)
            #expect(response.status == .badRequest)
        }
    }

    @Test func placeOfADatabaseHasItsSystem() async throws {
        try await withCalledSystems { client in
            let map = try await report("&top=2", client)
            #expect(map.edges.map(\.callee.name) == ["db.internal:5432 (postgresql)", "es:9200 (elasticsearch)"])
            #expect(map.edges.map(\.system) == ["postgresql", "elasticsearch"])
            let text = try await client.get("/api/v1/map?since=1m&service=desk").text
            #expect(text.ranges(of: "\"system\" : \"postgresql\"").count == 2)
        }
    }
}
