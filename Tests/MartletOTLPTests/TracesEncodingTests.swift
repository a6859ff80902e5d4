import Foundation
import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import MartletOTLP

@Suite struct TracesEncodingTests {
    /// Compares each byte with SwiftProtobuf's encoding of the same message.
    @Test(arguments: [[], [0], [0, 1, 2, 3], Array(0..<400)])
    func encodingFieldByFieldMatchesTheMessage(numbers: [Int]) throws {
        let spans = try numbers.map(span)
        let resource = TelemetryResource(service: "s", instance: "i")
        let bytes = try DetailsBatch(resource: resource, details: spans).otlp()
        var request = OTLPExportTraceServiceRequest()
        request.resourceSpans = [
            .with {
                $0.resource = OTLPResource(resource)
                $0.schemaURL = OTLPScope.schemaURL
                $0.scopeSpans = [
                    .with {
                        $0.scope = OTLPScope.message
                        $0.schemaURL = OTLPScope.schemaURL
                        $0.spans = spans.map(OTLPSpan.init)
                    }
                ]
            }
        ]
        #expect(try OTLPExportTraceServiceRequest(serializedBytes: bytes) == request)
        let expected: [UInt8] = try request.serializedBytes()
        #expect(bytes == expected)
    }

    /// Returns a span with all fields, or with few if `number` is a multiple of 3. The lengths of its texts are around
    /// the limits at which a length takes another byte.
    private func span(_ number: Int) throws -> SpanRecord {
        var span = SpanRecord(
            traceID: try #require(TraceID(high: 1 << 63, low: UInt64(number) + 1)),
            spanID: try #require(SpanID(UInt64(number) + 1)), name: String(repeating: "n", count: number),
            kind: SpanRecord.Kind.allCases[number % SpanRecord.Kind.allCases.count], start: 5,
            durationNanoseconds: number == 2 ? .max : 7)
        span.isError = number % 2 == 1
        span.isOK = number % 4 == 2
        span.isSampled = number % 4 > 1
        guard number % 3 > 0 else { return span }
        span.parentSpanID = SpanID(9)
        span.traceState = "a=b"
        span.message = number % 5 == 0 ? nil : "fail\u{fc}re"
        span.request = RequestDimensions(
            kind: number % 2 == 0 ? .client : .server, method: "GET", host: number % 7 == 0 ? "" : "h",
            port: number % 4 * 1000, endpoint: "/{id}", status: number % 5 == 0 ? nil : 404,
            error: number % 5 == 0 ? "dns" : nil)
        span.request?.isRoute = number % 6 > 1
        span.url = number % 11 == 0 ? "" : "http://h/" + String(repeating: "p", count: number * 100)
        span.bytesSent = UInt64(number % 3)
        span.bytesReceived = number % 8 == 0 ? .max : 0
        span.attributes = [
            "text": .string("b"), "empty": .string(""), "nothing": .integer(0), "negative": .integer(-1),
            "zero": .double(0),
            "no": .boolean(false), "yes": .boolean(true), "none": .array([]),
            "list": .array([.integer(1), .double(2), .array([.string(String(repeating: "x", count: number))])]),
        ]
        span.events = [SpanEvent(name: "e", time: 3, attributes: ["k": .integer(1)]), SpanEvent(name: "", time: 0)]
        span.links = [SpanLink(traceID: span.traceID, spanID: span.spanID, attributes: ["k": .boolean(true)])]
        (span.droppedAttributes, span.droppedEvents, span.droppedLinks) = (1, UInt32(number), .max)
        return span
    }
}

// The message that SwiftProtobuf encodes for a span.

extension OTLPSpan {
    fileprivate init(_ span: SpanRecord) {
        self.init()
        traceID = Data(span.traceID.bytes)
        spanID = Data(span.spanID.bytes)
        parentSpanID = Data(span.parentSpanID?.bytes ?? [])
        traceState = span.traceState
        name = span.name
        kind =
            switch span.kind {
            case .internal: .internal
            case .client: .client
            case .server: .server
            case .producer: .producer
            case .consumer: .consumer
            }
        startTimeUnixNano = span.start
        endTimeUnixNano = span.start &+ span.durationNanoseconds
        attributes = (span.request.map { Self.attributes(of: span, $0) } ?? []) + keyValues(span.attributes)
        events = span.events.map { event in
            .with {
                $0.name = event.name
                $0.timeUnixNano = event.time
                $0.attributes = keyValues(event.attributes)
            }
        }
        links = span.links.map { link in
            .with {
                $0.traceID = Data(link.traceID.bytes)
                $0.spanID = Data(link.spanID.bytes)
                $0.attributes = keyValues(link.attributes)
            }
        }
        droppedAttributesCount = span.droppedAttributes
        droppedEventsCount = span.droppedEvents
        droppedLinksCount = span.droppedLinks
        flags = span.isSampled ? 1 : 0
        if span.isError {
            status.code = .error
            status.message = span.message ?? ""
        } else if span.isOK {
            status.code = .ok
        }
    }

    private static func attributes(of span: SpanRecord, _ request: RequestDimensions) -> [OTLPKeyValue] {
        let isClient = request.kind == .client
        var attributes = request.attributes.map { OTLPKeyValue($0.name, $0.value) }
        if !span.url.isEmpty { attributes.append(OTLPKeyValue(isClient ? "url.full" : "url.path", span.url)) }
        let (asked, answered) = isClient ? (span.bytesSent, span.bytesReceived) : (span.bytesReceived, span.bytesSent)
        if asked > 0 { attributes.append(OTLPKeyValue("http.request.body.size", Int64(clamping: asked))) }
        if answered > 0 { attributes.append(OTLPKeyValue("http.response.body.size", Int64(clamping: answered))) }
        return attributes
    }
}

private func keyValues(_ attributes: [String: SpanAttribute]) -> [OTLPKeyValue] {
    attributes.sorted { $0.key < $1.key }.map { OTLPKeyValue($0.key, $0.value) }
}
