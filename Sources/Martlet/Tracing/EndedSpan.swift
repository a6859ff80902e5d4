import Foundation
import MartletOTLP
import MartletTelemetry
import Tracing

import enum MartletTelemetry.SpanAttribute

/// A span at its end. It determines whether the span is a request, and which of its values are counted and kept.
struct EndedSpan: Sendable {
    /// The span's own trace context; `nil` for a span that is never kept.
    let trace: TraceContext?
    let parent: SpanID?
    let kind: SpanRecord.Kind
    let start: UnixNanoseconds
    let durationNanoseconds: UInt64
    let content: SpanContent
    /// The attributes of an HTTP request, or of a remote procedure call treated as one; `nil` for any other span.
    private let http: HTTPSpanAttributes?
    /// `nil` if the span is not a remote procedure call, or names the HTTP request itself.
    private let call: RPCSpanAttributes?
    /// The attributes of a call of a database or a message broker; `nil` for any other span.
    private let system: SystemSpanAttributes?

    init(
        trace: TraceContext?, parent: SpanID?, kind: SpanRecord.Kind, start: UnixNanoseconds,
        durationNanoseconds: UInt64, content: SpanContent
    ) {
        self.trace = trace
        self.parent = parent
        self.kind = kind
        self.start = start
        self.durationNanoseconds = durationNanoseconds
        self.content = content
        // The whole text of a statement decides its shape.
        system = SystemSpanAttributes(kind) { name in
            content.attributes.get(name).flatMap { SpanAttribute($0) { $0 } }
        }
        let httpKind = system == nil && kind != .producer ? kind.request : nil
        let value = { (name: String) in content.attributes.get(name).flatMap { SpanAttribute($0) } }
        let named = httpKind.flatMap { HTTPSpanAttributes($0, value: value) }
        let call = httpKind == nil || named != nil ? nil : RPCSpanAttributes(value: value)
        self.call = call
        http = named ?? call.flatMap { call in httpKind.flatMap { HTTPSpanAttributes($0, of: call, value: value) } }
    }

    var isRequest: Bool { http != nil || system != nil }

    /// Counts the span if it is a request, and keeps its details if they are wanted.
    ///
    /// - Returns: the requests within the span that are counted, and its own. A span of the same system around this one is
    ///   not counted.
    @discardableResult
    func record(in recorder: Recorder) -> CountedRequests {
        var counted = content.counted
        if !isRequest || counted.contains(system?.system) {
            keep(in: recorder)
        } else if system.map({ record($0, in: recorder) }) ?? recordHTTP(in: recorder) {
            counted.insert(system?.system)
        }
        return counted
    }

    /// Returns whether the request is counted.
    private func recordHTTP(in recorder: Recorder) -> Bool {
        guard var http, let kind = kind.request else { return false }
        let isOverruled = isOK && http.takeOverruledStatus(kind)
        let url = http.url.flatMap(URL.init(string:))
        let destination = url.map(RequestDestination.url) ?? .target(RequestTarget(http))
        guard isSelected(kind, HTTPMethod.name(http.method), destination, by: recorder.settings) else { return false }
        var request = CapturedRequest(
            kind: kind, method: HTTPMethod.name(http.method), destination: destination,
            route: route(of: http), status: http.status, error: isOK ? nil : error(of: http, kind), start: start,
            durationNanoseconds: durationNanoseconds)
        if let call { request.system = CalledSystem(name: call.system, conventions: .rpc) }
        request.isSecure = kind == .server && Self.isSecure(http, url)
        request.httpVersion = http.httpVersion
        request.bytesSent = Self.believed(kind == .client ? http.requestBodySize : http.responseBodySize)
        request.bytesReceived =
            kind == .client
            ? Self.believed(http.responseBodySize)
            : Self.believed(http.requestBodySize, within: durationNanoseconds)
        let isFailure = request.outcome.isFailure(for: kind)
        if let trace = reserveDetails(isFailure, in: recorder) {
            let redaction = recorder.settings.contents.redaction
            let (span, bytes) = record(trace, isError: isFailure, redaction) {
                HTTPSpanAttributes.covers($0, of: kind, hasStatus: !isOverruled)
            }
            request.detailBytes = bytes
            request.makeSpan = details(span, of: request, http, redaction)
        }
        recorder.record(request)
        return true
    }

    /// Records a call of a database or a message broker. Returns whether it is counted.
    private func record(_ call: SystemSpanAttributes, in recorder: Recorder) -> Bool {
        let destination = RequestDestination.target(
            RequestTarget(host: call.host?.lowercased() ?? "", port: call.port ?? 0, path: "/"))
        guard isSelected(.client, call.operation, destination, by: recorder.settings) else { return false }
        let isError = content.status?.code == .error
        var request = CapturedRequest(
            method: call.operation, destination: destination, route: call.endpoint,
            error: isOK ? nil : call.error(isError: isError, exception: content.error?.requestErrorType), start: start,
            durationNanoseconds: durationNanoseconds)
        request.system = CalledSystem(name: call.system, conventions: call.conventions)
        let isFailure = request.outcome.isFailure(for: .client)
        if let trace = reserveDetails(isFailure, in: recorder) {
            let (span, bytes) = record(trace, isError: isFailure, recorder.settings.contents.redaction) {
                SystemSpanAttributes.covers($0)
            }
            request.detailBytes = bytes
            request.makeSpan = { dimensions in
                var span = span
                span.request = dimensions
                span.name = SpanRecord.name(of: dimensions)
                return span
            }
        }
        recorder.record(request)
        return true
    }

    /// Returns whether the configuration lets the request be counted. The patterns apply to requests that a service makes,
    /// not to those that it receives.
    private func isSelected(
        _ kind: RequestKind, _ method: String, _ destination: RequestDestination, by settings: InstrumentSettings
    ) -> Bool {
        if kind == .client, !settings.selection.contains(destination) { return false }
        return !settings.decisions.ignore(kind, method, destination)
    }

    /// Returns the trace of a request whose details are kept; `nil` if they are not.
    private func reserveDetails(_ isFailure: Bool, in recorder: Recorder) -> TraceContext? {
        guard let trace,
            recorder.reserveDetails(isSampled: trace.isSampled, isFailure: isFailure, nanoseconds: durationNanoseconds)
        else { return nil }
        return trace
    }

    /// Keeps a span that is not counted, if its trace is sampled.
    private func keep(in recorder: Recorder) {
        guard trace?.isSampled == true, let trace = reserveDetails(false, in: recorder) else { return }
        var (span, bytes) = record(
            trace, isError: content.status?.code == .error, recorder.settings.contents.redaction)
        if isRequest { span.attributes[AttributeName.isCounted] = .boolean(false) }
        // An instrument may take a statement for a name.
        if let system { span.name = "\(system.operation) \(system.system)" }
        recorder.keep(span, bytes: bytes)
    }

    // MARK: - Counting

    /// Returns the route of a request; `nil` for none. For a path without a route, Hummingbird reports the route `NotFound`.
    private func route(of http: HTTPSpanAttributes) -> String? {
        if kind == .server, http.status == 404 || http.status == 405, http.route == "NotFound" { return nil }
        return http.route?.cut(toBytes: MartletLimits.spanName)
    }

    /// Returns the attribute `error.type` (semantic conventions, "HTTP Spans"): the status of a call, else the
    /// instrument's value, else the status if it is a failure, else the recorded error; `nil` for a success.
    private func error(of http: HTTPSpanAttributes, _ kind: RequestKind) -> String? {
        if let status = call?.status { return status.error(for: kind) }
        if let type = http.errorType { return type.cut(toBytes: MartletLimits.spanName) }
        if let status = http.status, status >= (kind == .client ? 400 : 500) { return String(status) }
        let isError = content.status?.code == .error
        if kind == .server, http.status != nil { return nil }
        guard isError || http.status == nil else { return nil }
        return content.error?.requestErrorType ?? (isError ? RequestDimensions.otherMethodOrError : nil)
    }

    /// Returns the size of a body as the instrument has it; 0 if it is implausible. Instruments take it from
    /// `Content-Length`, where the peer may claim anything, and one claim must not outweigh all other sizes of a series.
    ///
    /// - Parameter nanoseconds: the time that the body had; without a limit if the span may end before the body.
    private static func believed(_ bytes: UInt64, within nanoseconds: UInt64 = .max) -> UInt64 {
        let (inTime, isBeyond) = nanoseconds.multipliedReportingOverflow(by: MartletLimits.bodySpeed)
        let most = isBeyond ? MartletLimits.largestBody : max(inTime, MartletLimits.quickBody)
        return bytes <= min(most, MartletLimits.largestBody) ? bytes : 0
    }

    /// Whether the span's author marked it as a success, which overrules the status of its response.
    private var isOK: Bool { content.status?.code == .ok }

    /// Returns whether a served request came over TLS, as its instrument says; without a word of it, by its port.
    private static func isSecure(_ http: HTTPSpanAttributes, _ url: URL?) -> Bool {
        (http.scheme ?? url?.scheme).map { $0.lowercased() == "https" } ?? (http.port == 443)
    }

    // MARK: - Details

    private func details(
        _ span: SpanRecord, of request: CapturedRequest, _ http: HTTPSpanAttributes, _ redaction: Redaction
    ) -> @Sendable (RequestDimensions) -> SpanRecord {
        // A call's path is its method, which is the endpoint.
        let url = call == nil ? (http.url ?? http.path ?? "").cut(toBytes: MartletLimits.urlLength) : ""
        // Instruments name a span by its method or its route. Hummingbird names it `HTTP …` before it knows the route.
        // The name of a call follows the semantic conventions.
        let isNamedByInstrument =
            call == nil && ([http.method, http.route].contains(span.name) || span.name.hasPrefix("HTTP "))
        return { dimensions in
            var span = span
            span.request = dimensions
            if isNamedByInstrument { span.name = SpanRecord.name(of: dimensions) }
            span.url = redaction.url(url)
            span.bytesSent = request.bytesSent
            span.bytesReceived = request.bytesReceived
            return span
        }
    }

    /// Returns the span's record and an estimate of its memory, in bytes.
    ///
    /// - Parameter isCovered: returns whether the request holds the attribute of a name already.
    private func record(
        _ trace: TraceContext, isError: Bool, _ redaction: Redaction,
        isCovered: (String) -> Bool = { _ in false }
    ) -> (span: SpanRecord, bytes: Int) {
        var span = SpanRecord(
            traceID: trace.traceID, spanID: trace.spanID, parentSpanID: parent,
            name: content.name.cut(toBytes: MartletLimits.spanName), kind: kind, start: start,
            durationNanoseconds: durationNanoseconds)
        span.traceState = trace.traceState
        span.isSampled = trace.isSampled
        (span.isError, span.isOK) = (isError, isOK)
        span.message = isError ? message.map(redaction.message) : nil
        var conversion = SpanConversion(redaction)
        span.attributes = conversion.keep(content.attributes, of: system?.system, except: isCovered)
        span.events = content.events.map { conversion.keep($0, of: system?.system) }
        span.links = content.links.compactMap { conversion.keep($0, of: system?.system) }
        span.droppedAttributes = content.droppedAttributes &+ conversion.dropped
        span.droppedEvents = content.droppedEvents
        span.droppedLinks = content.droppedLinks
        return (span, conversion.bytes)
    }

    private var message: String? { content.status?.message ?? content.error?.message }
}

extension RequestTarget {
    /// Makes the target of a request whose instrument names no URL.
    fileprivate init(_ http: HTTPSpanAttributes) {
        self.init(host: http.host?.lowercased() ?? "", port: http.port ?? 0, path: http.path ?? "/")
    }

    /// Makes the target that a client's instrument names in a span's attributes; `nil` if it names none yet.
    init?(_ attributes: SpanAttributes) {
        let value = { (name: String) in attributes.get(name).flatMap { SpanAttribute($0) } }
        let http = HTTPSpanAttributes(.client) { value($0) ?? ($0 == AttributeName.method ? .string("GET") : nil) }
        guard let http, http.url != nil || http.host != nil else { return nil }
        self = http.url.flatMap(URL.init(string:)).map { RequestTarget($0) } ?? RequestTarget(http)
    }
}

/// Converts a span's content into its kept form, within the limits for a span.
struct SpanConversion {
    let redaction: Redaction
    private var room = AttributeRoom(
        count: MartletLimits.attributes, nameBytes: MartletLimits.attributeName, bytes: MartletLimits.spanBytes)

    /// - Parameter redaction: the redaction of URLs, headers and error messages.
    init(_ redaction: Redaction) {
        self.redaction = redaction
    }

    /// The number of attributes that exceeded the limits so far.
    var dropped: UInt32 { room.dropped }

    /// An estimate of the memory for the kept content, in bytes.
    var bytes: Int { 1024 + room.taken }

    /// Returns the kept attributes.
    ///
    /// - Parameters:
    ///   - system: the database that the span calls; `nil` for none.
    ///   - isLeftOut: returns whether the attribute of a name is left out.
    mutating func keep(
        _ attributes: SpanAttributes, of system: String? = nil, except isLeftOut: (String) -> Bool = { _ in false }
    ) -> [String: SpanAttribute] {
        var all: [(name: String, value: SpanAttribute?)] = []
        all.reserveCapacity(attributes.count)
        attributes.forEach { name, value in
            if !isLeftOut(name) { all.append((name, SpanAttribute(value) { text($0, of: name) })) }
        }
        return room.take(all, system: system)
    }

    /// Returns the kept part of a text, or of a text in an array. The text is redacted before it is cut.
    private func text(_ text: String, of attribute: String) -> String {
        let limit = MartletLimits.attributeText
        if attribute == SpanError.messageAttribute { return redaction.message(text) }
        if attribute == SpanError.stackTraceAttribute { return redaction.text(text, limit: limit) }
        if SpanSecrets.isURL(attribute) { return redaction.url(text) }
        // The room for attributes takes only its shape.
        if SpanSecrets.isStatement(attribute) { return text }
        guard let header = SpanSecrets.header(named: attribute) else { return text.cut(toBytes: limit) }
        return redaction.header(header, text, limit: limit)
    }

    mutating func keep(_ event: Tracing.SpanEvent, of system: String? = nil) -> MartletTelemetry.SpanEvent {
        MartletTelemetry.SpanEvent(
            name: event.name.cut(toBytes: MartletLimits.spanName), time: event.nanosecondsSinceEpoch,
            attributes: keep(event.attributes, of: system))
    }

    /// Returns the kept link; `nil` for a link to a context without a trace.
    mutating func keep(_ link: Tracing.SpanLink, of system: String? = nil) -> MartletTelemetry.SpanLink? {
        guard let linked = link.context.traceContext else { return nil }
        return MartletTelemetry.SpanLink(
            traceID: linked.traceID, spanID: linked.spanID, attributes: keep(link.attributes, of: system))
    }
}

extension SpanAttribute {
    /// Converts an attribute; `nil` for an unknown kind, which a later version of the tracing API may add. Arrays are
    /// cut to their limit.
    ///
    /// - Parameter kept: returns the kept part of a text.
    init?(
        _ attribute: Tracing.SpanAttribute,
        _ kept: (String) -> String = { $0.cut(toBytes: MartletLimits.attributeText) }
    ) {
        switch attribute {
        case .string(let text): self = .string(kept(text))
        case .bool(let value): self = .boolean(value)
        case .int32(let number): self = .integer(Int64(number))
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .stringConvertible(let value): self = .described(value, kept)
        case .stringArray(let texts): self = .cut(texts) { .string(kept($0)) }
        case .boolArray(let values): self = .cut(values) { .boolean($0) }
        case .int32Array(let numbers): self = .cut(numbers) { .integer(Int64($0)) }
        case .int64Array(let numbers): self = .cut(numbers) { .integer($0) }
        case .doubleArray(let numbers): self = .cut(numbers) { .double($0) }
        case .stringConvertibleArray(let values): self = .cut(values) { .described($0, kept) }
        default: return nil
        }
    }

    /// Returns the value's description. An `Int` becomes a number, because the tracing API passes an `Int` in an array
    /// in this way.
    private static func described(
        _ value: any CustomStringConvertible & Sendable, _ kept: (String) -> String
    ) -> SpanAttribute {
        (value as? Int).map { .integer(Int64($0)) } ?? .string(kept("\(value)"))
    }

    private static func cut<Value>(_ values: [Value], _ element: (Value) -> SpanAttribute) -> SpanAttribute {
        .array(values.prefix(MartletLimits.attributeElements).map(element))
    }
}
