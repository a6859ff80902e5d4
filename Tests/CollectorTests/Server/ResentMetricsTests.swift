import Fixtures
import HummingbirdTesting
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

/// Delta metrics of SDKs that send a body again after a lost answer, and do not number their batches.
@Suite struct ResentMetricsTests {
    /// Returns three requests at two routes, from a process with this instance.
    private static func body(
        instance: String = "a", end: UInt64 = 10, values: [Double] = [0.2, 0.3]
    ) throws -> [UInt8] {
        try request(instance: instance, end: end, values: values).serializedBytes()
    }

    private static func request(
        instance: String = "a", end: UInt64 = 10, values: [Double] = [0.2, 0.3]
    ) -> OTLPExportMetricsServiceRequest {
        let points = [("/one", values), ("/two", [0.4])].map { route, values in
            OtherMetrics.point(values, end: end, attributes: [OTLPKeyValue("http.route", route)])
        }
        return OtherMetrics.request(
            scopes: [[OtherMetrics.histogram(points, .delta)]],
            resource: [OTLPKeyValue("service.name", "shop"), OTLPKeyValue("service.instance.id", instance)])
    }

    @Test func resentBodyCountsOnceHoweverItIsPacked() async throws {
        let body: [UInt8] = try Self.request().serializedBytes()
        let json: [UInt8] = try Self.request().jsonUTF8Bytes()
        try await withServer { client in
            #expect(try await client.post(body).status == .ok)
            #expect(try await client.post(body).status == .ok)
            #expect(try await client.post(try Gzip.compress(body), encoding: "gzip").status == .ok)
            #expect(try await client.post(json, type: "application/json").status == .ok)
            #expect(try await client.count() == 3)
            let page = String(buffer: try await client.get("/metrics").body)
            #expect(page.contains("martlet_collector_duplicate_batches_total 3\n"))
            #expect(page.contains("martlet_collector_ingested_points_total 2\n"))
        }
    }

    @Test func pointsOfAnotherProcessOrIntervalCount() async throws {
        let bodies = try [
            Self.body(), Self.body(instance: "b"), Self.body(end: 20), Self.body(values: [0.2, 0.31]),
        ]
        try await withServer { client in
            for body in bodies {
                let response = try await client.post(body)
                #expect(response.status == .ok)
            }
            // The last body has the same point of one route again.
            #expect(try await client.count() == 11)
        }
    }

    @Test func newPointsAmongResentOnesCount() async throws {
        var larger = Self.request()
        larger.resourceMetrics += Self.request(end: 20).resourceMetrics
        let bodies = try [Self.body(), larger.serializedBytes()]
        try await withServer { client in
            for body in bodies {
                let response = try await client.post(body)
                #expect(response.status == .ok)
            }
            #expect(try await client.count() == 6)
            #expect(String(buffer: try await client.get("/metrics").body).contains("duplicate_batches_total 0\n"))
        }
    }

    @Test func resentDeltasWithCumulativeMetricsCountOnce() async throws {
        var request = Self.request()
        let counting = OtherMetrics.point(Array(repeating: 0.2, count: 10), end: 10)
        request.resourceMetrics[0].scopeMetrics[0].metrics.append(
            OtherMetrics.histogram([counting], name: MetricName.clientDuration))
        let body: [UInt8] = try request.serializedBytes()
        try await withServer { client in
            for _ in 0..<3 {
                let response = try await client.post(body)
                #expect(response.status == .ok)
            }
            #expect(try await client.count() == 13)
        }
    }
}
