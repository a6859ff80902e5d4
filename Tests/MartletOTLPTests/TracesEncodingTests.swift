import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import MartletOTLP

@Suite struct TracesEncodingTests {
    @Test(arguments: [0, 1, 3, 400])
    func whatIsPutTogetherSpanBySpanIsWhatTheMessageSays(count: Int) throws {
        let spans = try (0..<count).map { number in
            var span = SpanRecord(
                traceID: try #require(TraceID(high: 1, low: UInt64(number) + 1)),
                spanID: try #require(SpanID(UInt64(number) + 1)), name: String(repeating: "n", count: number),
                kind: .client, start: 5, durationNanoseconds: 7)
            span.attributes = ["a": .string("b"), "c": .array([.integer(1), .double(2)])]
            return span
        }
        let resource = TelemetryResource(service: "s", instance: "i")
        let bytes = try DetailsBatch(resource: resource, details: spans).otlp()
        var request = OTLPExportTraceServiceRequest()
        request.resourceSpans = [
            .with {
                $0.resource = OTLPResource(resource)
                $0.scopeSpans = [
                    .with {
                        $0.scope = OTLPScope.message
                        $0.spans = spans.map(OTLPSpan.init)
                    }
                ]
            }
        ]
        #expect(try OTLPExportTraceServiceRequest(serializedBytes: bytes) == request)
        let expected: [UInt8] = try request.serializedBytes()
        #expect(bytes == expected)
    }
}
