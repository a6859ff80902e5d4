import MartletOTLP
import MartletTelemetry

/// The spans of one resource that are requests; others are passed over.
struct SpansDecoding {
    let limits: IntakeLimits
    private(set) var refusals: Refusals

    init(limits: IntakeLimits, refusals: Refusals) {
        self.limits = limits
        self.refusals = refusals
    }

    /// `nil` when nothing in it is for Martlet.
    mutating func decode(_ part: OTLPResourceSpans) -> DetailsBatch? {
        let resource = TelemetryResource(part.resource)
        let spans = part.scopeSpans.flatMap(\.spans)
        guard resource.fits(limits) else {
            refusals.add("an attribute of the resource is too long", count: spans.count)
            return nil
        }
        var details: [RequestDetail] = []
        for span in spans {
            do throws(PointRefusal) {
                if let detail = try RequestDetail(span, limits: limits) { details.append(detail) }
            } catch {
                refusals.add(error.reason)
            }
        }
        return details.isEmpty ? nil : DetailsBatch(resource: resource, details: details)
    }
}

extension RequestDetail {
    /// `nil` for a span that is no HTTP request.
    fileprivate init?(_ span: OTLPSpan, limits: IntakeLimits) throws(PointRefusal) {
        guard let kind = RequestKind(span.kind), span.attributes.text(AttributeName.method) != nil else { return nil }
        // W3C Trace Context, section 3.2.2: all zeros is no id.
        guard span.traceID.count == 16, span.spanID.count == 8, [0, 8].contains(span.parentSpanID.count),
            span.traceID.contains(where: { $0 != 0 }), span.spanID.contains(where: { $0 != 0 })
        else { throw PointRefusal(reason: "a span without valid ids") }
        guard span.startTimeUnixNano <= span.endTimeUnixNano, span.endTimeUnixNano <= UInt64(Int64.max) else {
            throw PointRefusal(reason: "a span that ends before it starts")
        }
        let dimensions = RequestDimensions(kind: kind, attributes: span.attributes)
        guard dimensions.fits(limits) else { throw PointRefusal(reason: "an attribute of the span is too long") }
        let requestBytes = UInt64(clamping: span.attributes.integer(AttributeName.requestBodySize) ?? 0)
        let responseBytes = UInt64(clamping: span.attributes.integer(AttributeName.responseBodySize) ?? 0)
        self.init(
            dimensions: dimensions, traceID: [UInt8](span.traceID), spanID: [UInt8](span.spanID),
            parentSpanID: [UInt8](span.parentSpanID), start: span.startTimeUnixNano,
            durationNanoseconds: span.endTimeUnixNano - span.startTimeUnixNano,
            url: PlainURL.text(of: span.attributes.text(AttributeName.urlFull) ?? "").cut(toBytes: limits.maxTextBytes),
            bytesSent: kind == .client ? requestBytes : responseBytes,
            bytesReceived: kind == .client ? responseBytes : requestBytes,
            message: span.status.message.isEmpty ? nil : span.status.message.cut(toBytes: limits.maxTextBytes))
    }
}

extension RequestKind {
    fileprivate init?(_ kind: OTLPSpan.SpanKind) {
        switch kind {
        case .client: self = .client
        case .server: self = .server
        default: return nil
        }
    }
}
