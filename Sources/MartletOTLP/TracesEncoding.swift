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
        traceID = Data(detail.traceID)
        spanID = Data(detail.spanID)
        parentSpanID = Data(detail.parentSpanID)
        let method = detail.dimensions.method == "_OTHER" ? "HTTP" : detail.dimensions.method
        name = "\(method) \(detail.dimensions.endpoint)"
        kind = detail.dimensions.kind == .client ? .client : .server
        startTimeUnixNano = detail.start
        endTimeUnixNano = detail.start &+ detail.durationNanoseconds
        attributes = [OTLPKeyValue](detail.dimensions)
        attributes.append(OTLPKeyValue(AttributeName.urlFull, detail.url))
        if detail.bytesSent > 0 {
            attributes.append(OTLPKeyValue(AttributeName.requestBodySize, Int64(clamping: detail.bytesSent)))
        }
        if detail.bytesReceived > 0 {
            attributes.append(OTLPKeyValue(AttributeName.responseBodySize, Int64(clamping: detail.bytesReceived)))
        }
        if detail.dimensions.outcome.isFailure(for: detail.dimensions.kind) {
            status.code = .error
            status.message = detail.message ?? ""
        }
    }
}
