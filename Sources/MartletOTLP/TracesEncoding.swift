import Foundation
import MartletTelemetry
import SwiftProtobuf

extension DetailsBatch {
    /// The batch as the body of `POST /v1/traces`.
    package func otlp() throws -> [UInt8] {
        var scope = OTLPScopeSpans()
        scope.scope = OTLPScope.message
        scope.spans = details.map(OTLPSpan.init)
        var spans = OTLPResourceSpans()
        spans.resource = OTLPResource(resource)
        spans.scopeSpans = [scope]
        var request = OTLPExportTraceServiceRequest()
        request.resourceSpans = [spans]
        return try request.serializedBytes()
    }
}

extension OTLPSpan {
    /// A span as the semantic conventions have it ("HTTP Spans"): the name is method and template, never the path.
    package init(_ detail: RequestDetail) {
        self.init()
        let isClient = detail.dimensions.kind == .client
        traceID = Data(detail.traceID)
        spanID = Data(detail.spanID)
        parentSpanID = Data(detail.parentSpanID)
        let method = detail.dimensions.method == "_OTHER" ? "HTTP" : detail.dimensions.method
        name = "\(method) \(detail.dimensions.endpoint)"
        kind = isClient ? .client : .server
        startTimeUnixNano = detail.start
        endTimeUnixNano = detail.start &+ detail.durationNanoseconds
        attributes = [OTLPKeyValue](detail.dimensions)
        attributes.append(OTLPKeyValue(AttributeName.urlFull, detail.url))
        let requestSize = isClient ? detail.bytesSent : detail.bytesReceived
        let responseSize = isClient ? detail.bytesReceived : detail.bytesSent
        if requestSize > 0 {
            attributes.append(OTLPKeyValue(AttributeName.requestBodySize, Int64(clamping: requestSize)))
        }
        if responseSize > 0 {
            attributes.append(OTLPKeyValue(AttributeName.responseBodySize, Int64(clamping: responseSize)))
        }
        if detail.dimensions.outcome.isFailure(for: detail.dimensions.kind) {
            status.code = .error
            status.message = detail.message ?? ""
        }
    }
}
