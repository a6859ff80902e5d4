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
        var details: [SpanRecord] = []
        for span in spans {
            do throws(PointRefusal) {
                if let detail = try SpanRecord(span, limits: limits) { details.append(detail) }
            } catch {
                refusals.add(error.reason)
            }
        }
        return details.isEmpty ? nil : DetailsBatch(resource: resource, details: details)
    }
}

extension SpanRecord {
    /// `nil` for a span that is no HTTP request.
    fileprivate init?(_ span: OTLPSpan, limits: IntakeLimits) throws(PointRefusal) {
        guard let kind = RequestKind(span.kind), span.attributes.text(AttributeName.method) != nil else { return nil }
        guard let traceID = TraceID(bytes: span.traceID), let spanID = SpanID(bytes: span.spanID),
            [0, 8].contains(span.parentSpanID.count)
        else { throw PointRefusal(reason: "a span without valid ids") }
        guard span.startTimeUnixNano <= span.endTimeUnixNano, span.endTimeUnixNano <= UInt64(Int64.max) else {
            throw PointRefusal(reason: "a span that ends before it starts")
        }
        let dimensions = RequestDimensions(kind: kind, attributes: span.attributes)
        guard dimensions.fits(limits) else { throw PointRefusal(reason: "an attribute of the span is too long") }
        self.init(
            traceID: traceID, spanID: spanID, parentSpanID: SpanID(bytes: span.parentSpanID), name: span.name,
            kind: kind == .client ? .client : .server, start: span.startTimeUnixNano,
            durationNanoseconds: span.endTimeUnixNano - span.startTimeUnixNano)
        let requestBytes = UInt64(clamping: span.attributes.integer(AttributeName.requestBodySize) ?? 0)
        let responseBytes = UInt64(clamping: span.attributes.integer(AttributeName.responseBodySize) ?? 0)
        request = dimensions
        isError = span.status.code == .error
        url = PlainURL.text(of: span.attributes.text(AttributeName.urlFull) ?? "").cut(toBytes: limits.maxTextBytes)
        bytesSent = kind == .client ? requestBytes : responseBytes
        bytesReceived = kind == .client ? responseBytes : requestBytes
        message = span.status.message.isEmpty ? nil : span.status.message.cut(toBytes: limits.maxTextBytes)
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
