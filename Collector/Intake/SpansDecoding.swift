import Foundation
import MartletOTLP
import MartletTelemetry

/// Decodes the spans of one resource.
struct SpansDecoding {
    let limits: IntakeLimits
    private(set) var refusals: Refusals

    init(limits: IntakeLimits, refusals: Refusals) {
        self.limits = limits
        self.refusals = refusals
    }

    /// Returns the spans to keep; `nil` if there are none.
    mutating func decode(_ part: OTLPResourceSpans) -> DetailsBatch? {
        let resource = TelemetryResource(part.resource)
        let spans = part.scopeSpans.flatMap(\.spans)
        defer { refusals.assign(to: resource, limits) }
        guard resource.fits(limits) else {
            refusals.add("an attribute of the resource is too long", count: spans.count)
            return nil
        }
        var details: [SpanRecord] = []
        for span in spans {
            do throws(PointRefusal) {
                details.append(try SpanRecord(span, isOwn: resource.isMartlet, limits: limits))
            } catch {
                refusals.add(error.reason)
            }
        }
        return details.isEmpty ? nil : DetailsBatch(resource: resource, details: details)
    }
}

extension SpanRecord {
    /// Decodes a span, and refuses it only if it is invalid. Content beyond a limit is left out and counted.
    ///
    /// - Parameter isOwn: whether a Martlet agent sent the span. The agent has already removed secrets from the URL, so the
    ///   rest stays.
    fileprivate init(_ span: OTLPSpan, isOwn: Bool, limits: IntakeLimits) throws(PointRefusal) {
        guard let traceID = TraceID(bytes: span.traceID), let spanID = SpanID(bytes: span.spanID),
            [0, 8].contains(span.parentSpanID.count)
        else { throw PointRefusal(reason: "the span has no valid ids") }
        guard span.startTimeUnixNano <= span.endTimeUnixNano, span.endTimeUnixNano <= UInt64(Int64.max) else {
            throw PointRefusal(reason: "the span ends before it starts, or has no valid end")
        }
        try limits.times.check(span.startTimeUnixNano, span.endTimeUnixNano)
        guard OTLPSpan.SpanKind.allCases.contains(span.kind),
            OTLPStatus.StatusCode.allCases.contains(span.status.code)
        else {
            throw PointRefusal(reason: "the span's kind or status code is not one of OpenTelemetry's")
        }
        // Nothing is known of the time before the end of a span that has no start.
        let start = span.startTimeUnixNano == 0 ? span.endTimeUnixNano : span.startTimeUnixNano
        self.init(
            traceID: traceID, spanID: spanID, parentSpanID: SpanID(bytes: span.parentSpanID),
            name: span.name.storable(upTo: limits.maxAttributeBytes), kind: Kind(span.kind),
            start: start, durationNanoseconds: span.endTimeUnixNano - start)
        traceState = span.traceState.storable(upTo: limits.maxAttributeBytes)
        isError = span.status.code == .error
        message = span.status.message.isEmpty ? nil : span.status.message.storable(upTo: limits.maxTextBytes)
        takeContent(of: span, isCovered: takeRequest(of: span, isOwn: isOwn, limits), limits)
    }

    /// Takes the request or the call that the span reports, if it does.
    ///
    /// - Returns: whether the request holds the attribute of a name.
    private mutating func takeRequest(
        of span: OTLPSpan, isOwn: Bool, _ limits: IntakeLimits
    ) -> (String) -> Bool {
        let value = { (name: String) in span.attributes.spanAttribute(name, limits) }
        if let call = SystemSpanAttributes(kind, value: value) {
            take(call, isOK: span.status.code == .ok, exception: span.exceptionType(limits), limits)
            return SystemSpanAttributes.covers
        }
        guard let kind = RequestKind(kind) else { return { _ in false } }
        let (request, hasStatus) = takeRequest(kind, of: span, isOwn: isOwn, value, limits)
        return { HTTPSpanAttributes.covers($0, of: request, hasStatus: hasStatus) }
    }

    private mutating func take(
        _ call: SystemSpanAttributes, isOK: Bool, exception: String?, _ limits: IntakeLimits
    ) {
        var dimensions = RequestDimensions(
            call, error: isOK ? nil : call.error(isError: isError, exception: exception))
        dimensions.host = dimensions.host.cut(toBytes: limits.maxAttributeBytes)
        request = dimensions
        // Some instruments take the statement for a name.
        if call.conventions == .database { name = StatementShape.summary(name, system: call.system) }
    }

    /// Takes an HTTP request, or a remote procedure call as one.
    ///
    /// - Returns: the kind of the request, `nil` if the span is not a request, and whether the request holds the status.
    private mutating func takeRequest(
        _ kind: RequestKind, of span: OTLPSpan, isOwn: Bool, _ value: (String) -> SpanAttribute?,
        _ limits: IntakeLimits
    ) -> (kind: RequestKind?, hasStatus: Bool) {
        let named = HTTPSpanAttributes(kind, value: value)
        // An agent's span of a call has the attributes of an HTTP request, too.
        let call = named == nil || isOwn ? RPCSpanAttributes(value: value) : nil
        guard var http = named ?? call.flatMap({ HTTPSpanAttributes(kind, of: $0, value: value) }) else {
            return (nil, true)
        }
        let isOverruled = span.status.code == .ok && http.takeOverruledStatus(kind)
        request = RequestDimensions(kind: kind, http, limits)
        request?.system = call?.system.cut(toBytes: limits.maxAttributeBytes)
        if named == nil, let status = call?.status {
            request?.error = span.status.code == .ok ? nil : status.error(for: kind)
        } else if isError, request?.status == nil, request?.error == nil {
            // Before the stable names, an instrument reported a request without an answer just as failed, without an error type.
            // Some give it the status 0.
            request?.error = RequestDimensions.otherMethodOrError
        }
        // The path of a call is its method, which is the endpoint.
        let url = named == nil ? "" : http.url ?? http.path ?? ""
        self.url = (isOwn ? url : PlainURL.text(of: url)).cut(toBytes: limits.maxTextBytes)
        bytesSent = kind == .client ? http.requestBodySize : http.responseBodySize
        bytesReceived = kind == .client ? http.responseBodySize : http.requestBodySize
        return (kind, !isOverruled)
    }

    private static let bodies = [AttributeName.requestBody, AttributeName.responseBody]

    private mutating func takeContent(of span: OTLPSpan, isCovered: (String) -> Bool, _ limits: IntakeLimits) {
        var room = limits.attributeRoom
        let rest = span.attributes.filter { !isCovered($0.key) }
        attributes = room.take(rest.filter { !Self.bodies.contains($0.key) }.named(limits), system: request?.system)
        for body in Self.bodies {
            attributes[body] = rest.text(body).map { .string($0.cut(toBytes: limits.maxBodyTextBytes)) }
        }
        events = span.events.prefix(limits.maxSpanEvents).map { event in
            SpanEvent(
                name: event.name.cut(toBytes: limits.maxAttributeBytes), time: event.timeUnixNano,
                attributes: room.take(event.attributes.named(limits), system: request?.system))
        }
        links = span.links.prefix(limits.maxSpanLinks).compactMap { link in
            guard let traceID = TraceID(bytes: link.traceID), let spanID = SpanID(bytes: link.spanID) else {
                return nil
            }
            return SpanLink(
                traceID: traceID, spanID: spanID,
                attributes: room.take(link.attributes.named(limits), system: request?.system))
        }
        droppedAttributes = span.droppedAttributesCount &+ room.dropped
        droppedEvents = span.droppedEventsCount &+ UInt32(clamping: span.events.count - events.count)
        droppedLinks = span.droppedLinksCount &+ UInt32(clamping: span.links.count - links.count)
    }
}

extension SpanRecord.Kind {
    /// An unspecified kind becomes `internal`, as the protocol says.
    fileprivate init(_ kind: OTLPSpan.SpanKind) {
        self =
            switch kind {
            case .server: .server
            case .client: .client
            case .producer: .producer
            case .consumer: .consumer
            case .internal, .unspecified, .UNRECOGNIZED: .internal
            }
    }
}

extension RequestKind {
    fileprivate init?(_ kind: SpanRecord.Kind) {
        switch kind {
        case .client: self = .client
        case .server: self = .server
        case .internal, .producer, .consumer: return nil
        }
    }
}

extension [OTLPKeyValue] {
    /// Returns names and values for ``AttributeRoom``, with `nil` for a value that is not kept.
    func named(_ limits: IntakeLimits) -> [(name: String, value: SpanAttribute?)] {
        map { ($0.key, SpanAttribute($0.value, limits)) }
    }

    func spanAttribute(_ name: String, _ limits: IntakeLimits) -> SpanAttribute? {
        first { $0.key == name }.flatMap { SpanAttribute($0.value, limits) }
    }
}

extension SpanAttribute {
    /// `nil` for maps and bytes, which no semantic convention of spans uses, and for arrays of arrays.
    fileprivate init?(_ value: OTLPAnyValue, _ limits: IntakeLimits) {
        guard case .arrayValue(let array)? = value.value else {
            self.init(scalar: value, limits)
            return
        }
        let elements = array.values.prefix(limits.maxAttributeElements).map { SpanAttribute(scalar: $0, limits) }
        guard !elements.contains(nil) else { return nil }
        self = .array(elements.compactMap(\.self))
    }

    private init?(scalar value: OTLPAnyValue, _ limits: IntakeLimits) {
        switch value.value {
        case .stringValue(let text): self = .string(text.storable(upTo: limits.maxTextBytes))
        case .boolValue(let value): self = .boolean(value)
        case .intValue(let number): self = .integer(number)
        case .doubleValue(let number): self = .double(number)
        case .arrayValue, .kvlistValue, .bytesValue, nil: return nil
        }
    }
}

extension OTLPExportTraceServiceRequest {
    /// Corrects the ids of a message decoded from JSON. OTLP writes them as hexadecimal digits, but a protobuf decoder reads
    /// them as base64 (OTLP specification, "JSON Protobuf Encoding").
    mutating func repairHexIDs() {
        for resource in resourceSpans.indices {
            for scope in resourceSpans[resource].scopeSpans.indices {
                for span in resourceSpans[resource].scopeSpans[scope].spans.indices {
                    resourceSpans[resource].scopeSpans[scope].spans[span].repairHexIDs()
                }
            }
        }
    }
}

extension OTLPSpan {
    /// The type of the first recorded exception.
    fileprivate func exceptionType(_ limits: IntakeLimits) -> String? {
        let exception = events.first { $0.name == "exception" }
        return exception?.attributes.text("exception.type")?.cut(toBytes: limits.maxAttributeBytes)
    }

    fileprivate mutating func repairHexIDs() {
        traceID = traceID.hexDecoded
        spanID = spanID.hexDecoded
        parentSpanID = parentSpanID.hexDecoded
        for link in links.indices {
            links[link].traceID = links[link].traceID.hexDecoded
            links[link].spanID = links[link].spanID.hexDecoded
        }
    }
}

extension Data {
    /// Replaces an id with other characters. It is one byte long, so it is refused as an id.
    private static let noID = Data([0])

    /// Returns the bytes that hexadecimal digits represent, after the digits were wrongly decoded as base64. Encoding the data
    /// as base64 gives the digits back, if their number is even.
    fileprivate var hexDecoded: Data {
        let digits = Array(base64EncodedString().lowercased().utf8)
        var bytes = Data(capacity: digits.count / 2)
        for pair in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt64(hexDigits: digits[pair..<pair + 2]) else { return Self.noID }
            bytes.append(UInt8(byte))
        }
        return bytes
    }
}
