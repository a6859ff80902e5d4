import Hummingbird
import HummingbirdTesting
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

@Suite struct IngestTests {
    @Test func plainAndGzipAreTaken() async throws {
        try await withServer { client in
            #expect(try await client.post(try Samples.body()).status == .ok)
            let zipped = try Gzip.compress(try Samples.body())
            #expect(try await client.post(zipped, encoding: "gzip").status == .ok)
            #expect(try await client.count() == 10)
        }
    }

    @Test func theSameBatchTwiceCountsOnce() async throws {
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

    @Test func anEmptyBodyIsAnsweredWithAnEmptyMessage() async throws {
        try await withServer { client in
            for path in ["/v1/metrics", "/v1/traces"] {
                let response = try await client.post([], to: path)
                #expect(response.status == .ok)
                #expect(response.headers[.contentType] == "application/x-protobuf")
                #expect(response.body.readableBytes == 0)
            }
        }
    }

    @Test func aContentTypeMayHaveParametersAndCapitals() async throws {
        try await withServer { client in
            let response = try await client.post(try Samples.body(), type: "Application/X-Protobuf; charset=utf-8")
            #expect(response.status == .ok)
        }
    }

    @Test func theSenderIsToldOfRefusedPoints() async throws {
        var request: OTLPExportMetricsServiceRequest = try .init(serializedBytes: Samples.body())
        request.resourceMetrics[0].scopeMetrics[0].metrics[0].exponentialHistogram.dataPoints[0].scale = 99
        let body: [UInt8] = try request.serializedBytes()
        try await withServer { client in
            let response = try await client.post(body)
            #expect(response.status == .ok)
            let message = try OTLPExportMetricsServiceResponse(serializedBytes: [UInt8](buffer: response.body))
            // The point of the duration is refused, and the size is taken.
            #expect(message.partialSuccess.rejectedDataPoints == 1)
            #expect(message.partialSuccess.errorMessage.contains("out of bounds"))
            #expect(try await client.count() == 0)
        }
    }

    @Test func anAgentIsToldForHowManyRequestsTheRefusedPointsStood() async throws {
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

    @Test func anAgentIsToldForHowManyRequestsARefusedResourceStood() async throws {
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

    @Test func healthAndReadinessAreToldToEveryone() async throws {
        try await withServer(tokens: .init(ingest: "a", read: "b")) { client in
            for path in ["/healthz", "/readyz"] {
                let response = try await client.get(path)
                #expect(response.status == .ok)
                #expect(String(buffer: response.body).filter { !$0.isWhitespace } == #"{"status":"ok"}"#)
            }
        }
    }
}
