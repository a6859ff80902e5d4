import Foundation
import MartletTelemetry
import SwiftProtobuf

extension DetailsBatch {
    /// The batch as the body of `POST /v1/traces`: an ExportTraceServiceRequest of one ResourceSpans with one ScopeSpans.
    ///
    /// Encoded span by span, because SwiftProtobuf works out the size of a message anew for each message around it.
    package func otlp() throws -> [UInt8] {
        var scopeSpans = LengthDelimited()
        scopeSpans.append(try OTLPScope.message.serializedBytes(), field: 1)
        for span in details { scopeSpans.append(try OTLPSpan(span).serializedBytes(), field: 2) }
        var resourceSpans = LengthDelimited()
        resourceSpans.append(try OTLPResource(resource).serializedBytes(), field: 1)
        resourceSpans.append(scopeSpans.bytes, field: 2)
        var request = LengthDelimited()
        request.append(resourceSpans.bytes, field: 1)
        return request.bytes
    }
}

extension OTLPSpan {
    package init(_ span: SpanRecord) {
        self.init()
        traceID = Data(span.traceID.bytes)
        spanID = Data(span.spanID.bytes)
        parentSpanID = Data(span.parentSpanID?.bytes ?? [])
        traceState = span.traceState
        name = span.name
        kind = SpanKind(span.kind)
        startTimeUnixNano = span.start
        endTimeUnixNano = span.start &+ span.durationNanoseconds
        attributes = (span.request.map { span.attributes(of: $0) } ?? []) + [OTLPKeyValue](span.attributes)
        events = span.events.map(OTLPSpan.Event.init)
        links = span.links.map(OTLPSpan.Link.init)
        droppedAttributesCount = span.droppedAttributes
        droppedEventsCount = span.droppedEvents
        droppedLinksCount = span.droppedLinks
        if span.isError {
            status.code = .error
            status.message = span.message ?? ""
        }
    }
}

extension OTLPSpan.Event {
    fileprivate init(_ event: SpanEvent) {
        self.init()
        name = event.name
        timeUnixNano = event.time
        attributes = [OTLPKeyValue](event.attributes)
    }
}

extension OTLPSpan.Link {
    fileprivate init(_ link: SpanLink) {
        self.init()
        traceID = Data(link.traceID.bytes)
        spanID = Data(link.spanID.bytes)
        attributes = [OTLPKeyValue](link.attributes)
    }
}

extension SpanRecord {
    fileprivate func attributes(of request: RequestDimensions) -> [OTLPKeyValue] {
        let isClient = request.kind == .client
        var attributes = [OTLPKeyValue](request)
        // Of its URL a server is told the path.
        let urlName = isClient ? AttributeName.urlFull : AttributeName.urlPath
        if !url.isEmpty { attributes.append(OTLPKeyValue(urlName, url)) }
        let requestSize = isClient ? bytesSent : bytesReceived
        let responseSize = isClient ? bytesReceived : bytesSent
        if requestSize > 0 {
            attributes.append(OTLPKeyValue(AttributeName.requestBodySize, Int64(clamping: requestSize)))
        }
        if responseSize > 0 {
            attributes.append(OTLPKeyValue(AttributeName.responseBodySize, Int64(clamping: responseSize)))
        }
        return attributes
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
