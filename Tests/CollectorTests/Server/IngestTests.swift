import Hummingbird
import HummingbirdTesting
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

@Suite struct IngestTests {
    @Test func sameBatchTwiceCountsOnce() async throws {
        try await withServer { client in
            for _ in 0..<2 {
                let response = try await client.post(try Samples.body(), batch: "i-1/1/metrics")
                #expect(response.status == .ok)
            }
            #expect(try await client.count() == 5)
            #expect(try await client.post(try Samples.body(), batch: "i-1/2/metrics").status == .ok)
            #expect(try await client.count() == 10)
        }
    }

    @Test func contentTypeMayHaveParametersAndCapitals() async throws {
        try await withServer { client in
            let response = try await client.post(try Samples.body(), type: "Application/X-Protobuf; charset=utf-8")
            #expect(response.status == .ok)
        }
    }

    @Test func answerHasTheRequestCountOfRefusedPoints() async throws {
        let batch = MetricsBatch(
            resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10),
            series: [
                Samples.dimensions(endpoint: "/fine"): Samples.statistics([1, 1], sent: 5),
                Samples.dimensions(endpoint: String(repeating: "long", count: 1000)):
                    Samples.statistics([1, 2, 3], sent: 5, received: 5),
                Samples.dimensions(.server, endpoint: "/" + String(repeating: "long", count: 1000)):
                    Samples.statistics([1, 2, 3, 4]),
            ], ledger: Ledger(captured: 9, waiting: 9))
        let name = try #require(HTTPFields.Element.Name(BatchID.rejectedHeaderName))
        try await withServer { client in
            for _ in 0..<2 {
                let response = try await client.post(try batch.otlp(), batch: "i-1/1/metrics")
                #expect(response.status == .ok)
                #expect(response.headers[name] == "7")
            }
            #expect(try await client.count() == 2)
            #expect(try await client.post(try Samples.body(), batch: "i-1/2/metrics").headers[name] == nil)
        }
    }

    @Test func answerHasTheRequestCountOfARefusedResource() async throws {
        let name = try #require(HTTPFields.Element.Name(BatchID.rejectedHeaderName))
        let resource = Samples.resource(String(repeating: "long", count: 1000))
        let batch = MetricsBatch(
            resource: resource, start: Samples.time(0), end: Samples.time(10),
            series: [Samples.dimensions(): Samples.statistics([1, 2, 3], received: 5)], ledger: Ledger(captured: 3))
        try await withServer { client in
            let response = try await client.post(try batch.otlp(), batch: "i-1/1/metrics")
            #expect(response.status == .ok)
            #expect(response.headers[name] == "3")
        }
    }

    @Test func detailsAreTaken() async throws {
        let batch = DetailsBatch(resource: Samples.resource(), details: [Samples.detail(1)])
        try await withServer { client in
            let response = try await client.post(try batch.otlp(), to: "/v1/traces", batch: "i-1/1/traces")
            #expect(response.status == .ok)
            #expect(response.body.readableBytes == 0)
        }
    }

    @Test func healthAndReadinessNeedNoToken() async throws {
        try await withServer(tokens: .init(ingest: "a", read: "b")) { client in
            for path in ["/healthz", "/readyz"] {
                let response = try await client.get(path)
                #expect(response.status == .ok)
                #expect(String(buffer: response.body).filter { !$0.isWhitespace } == #"{"status":"ok"}"#)
            }
        }
    }
}
