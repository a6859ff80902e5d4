import MartletTelemetry
import SwiftProtobuf

extension DetailsBatch {
    /// Returns the batch as the body of `POST /v1/traces`: an ExportTraceServiceRequest of one ResourceSpans with one
    /// ScopeSpans.
    package func otlp() throws -> [UInt8] {
        let resource: [UInt8] = try OTLPResource(resource).serializedBytes()
        let scope: [UInt8] = try OTLPScope.message.serializedBytes()
        var request = ProtobufWriter()
        request.message(field: 1) { resourceSpans in
            resourceSpans.message(resource, field: 1)
            resourceSpans.message(field: 2) { scopeSpans in
                scopeSpans.message(scope, field: 1)
                for span in details { scopeSpans.message(field: 2) { span.write(to: &$0) } }
                scopeSpans.text(OTLPScope.schemaURL, field: 3)
            }
            resourceSpans.text(OTLPScope.schemaURL, field: 3)
        }
        return request.bytes
    }
}

extension SpanRecord {
    /// Writes the fields of a Span in the order of their numbers.
    fileprivate func write(to writer: inout ProtobufWriter) {
        writer.bigEndian(traceID.high, traceID.low, field: 1)
        writer.bigEndian(spanID.value, field: 2)
        writer.text(traceState, field: 3)
        if let parentSpanID { writer.bigEndian(parentSpanID.value, field: 4) }
        writer.text(name, field: 5)
        writer.varint(UInt64(OTLPSpan.SpanKind(kind).rawValue), field: 6)
        writer.fixed64(start, field: 7)
        writer.fixed64(start &+ durationNanoseconds, field: 8)
        if let request { write(request, to: &writer) }
        writer.attributes(attributes, field: 9)
        writer.varint(UInt64(droppedAttributes), field: 10)
        for event in events { writer.message(field: 11) { event.write(to: &$0) } }
        writer.varint(UInt64(droppedEvents), field: 12)
        for link in links { writer.message(field: 13) { link.write(to: &$0) } }
        writer.varint(UInt64(droppedLinks), field: 14)
        if isError {
            writer.message(field: 15) { status in
                status.text(message ?? "", field: 2)
                status.varint(UInt64(OTLPStatus.StatusCode.error.rawValue), field: 3)
            }
        } else if isOK {
            writer.message(field: 15) { $0.varint(UInt64(OTLPStatus.StatusCode.ok.rawValue), field: 3) }
        }
        writer.fixed32(isSampled ? 1 : 0, field: 16)
    }

    /// Writes the attributes of a request: dimensions, URL and body sizes.
    private func write(_ request: RequestDimensions, to writer: inout ProtobufWriter) {
        let isClient = request.kind == .client
        writer.attributes(request, field: 9)
        // The instrument's name of the destination may be one of many.
        if request.conventions == .messaging {
            writer.attribute(AttributeName.messagingTemplate, .string(request.endpoint), field: 9)
        }
        // A server's span has only the path of the URL.
        if !url.isEmpty {
            writer.attribute(isClient ? AttributeName.urlFull : AttributeName.urlPath, .string(url), field: 9)
        }
        let requestSize = isClient ? bytesSent : bytesReceived
        let responseSize = isClient ? bytesReceived : bytesSent
        if requestSize > 0 {
            writer.attribute(AttributeName.requestBodySize, .integer(Int64(clamping: requestSize)), field: 9)
        }
        if responseSize > 0 {
            writer.attribute(AttributeName.responseBodySize, .integer(Int64(clamping: responseSize)), field: 9)
        }
    }
}

extension SpanEvent {
    fileprivate func write(to writer: inout ProtobufWriter) {
        writer.fixed64(time, field: 1)
        writer.text(name, field: 2)
        writer.attributes(attributes, field: 3)
    }
}

extension SpanLink {
    fileprivate func write(to writer: inout ProtobufWriter) {
        writer.bigEndian(traceID.high, traceID.low, field: 1)
        writer.bigEndian(spanID.value, field: 2)
        writer.attributes(attributes, field: 4)
    }
}

extension OTLPSpan.SpanKind {
    fileprivate init(_ kind: SpanRecord.Kind) {
        self =
            switch kind {
            case .internal: .internal
            case .client: .client
            case .server: .server
            case .producer: .producer
            case .consumer: .consumer
            }
    }
}
