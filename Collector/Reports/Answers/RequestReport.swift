import MartletOTLP
import MartletStorage
import MartletTelemetry

/// Everything that is kept about a request, and its trace. The JSON is a fixed format: the keys of a ``RequestSummary`` and those
/// below, in one object.
package struct RequestReport: Sendable, Equatable, Codable {
    /// The most spans of a trace that are shown.
    package static let maxSpans = 1000

    package var summary: RequestSummary
    /// Header fields by their names in lower case; empty if the sender keeps none.
    package var requestHeaders: [String: [String]]
    package var responseHeaders: [String: [String]]
    /// The kept part of a body, redacted; `nil` if the sender keeps none.
    package var requestBody: String?
    package var responseBody: String?
    /// All other attributes as texts.
    package var attributes: [String: String]
    /// The spans of the trace in the order of their starts, with the request itself.
    package var trace: [TraceSpan]
    /// The number of spans that ``trace`` leaves out; `nil`, and left out, if there are none.
    package var moreSpans: Int?

    private enum CodingKeys: String, CodingKey {
        case attributes, trace
        case requestHeaders = "request_headers"
        case responseHeaders = "response_headers"
        case requestBody = "request_body"
        case responseBody = "response_body"
        case moreSpans = "more_spans"
    }

    /// Reads a kept request and its trace.
    ///
    /// - Throws: ``UnknownRequest``, or the store's error.
    package init(id: String, in storage: some Storage) async throws {
        guard let kept = try await storage.request(id) else { throw UnknownRequest(id: id) }
        let trace = try await storage.spans(ofTrace: kept.span.traceID, limit: Self.maxSpans)
        guard let report = Self(kept, trace: trace) else { throw UnknownRequest(id: id) }
        self = report
    }

    /// Returns `nil` if the span is not a request.
    package init?(_ stored: StoredSpan, trace answer: TraceAnswer) {
        guard let summary = RequestSummary(stored) else { return nil }
        let contents = SpanContents(stored.span)
        self.summary = summary
        (requestHeaders, responseHeaders) = (contents.requestHeaders, contents.responseHeaders)
        (requestBody, responseBody) = (contents.requestBody, contents.responseBody)
        attributes = contents.others.mapValues(\.text)
        let first = answer.spans.map(\.span.start).min() ?? 0
        trace = answer.spans.map { TraceSpan($0, after: first) }
        moreSpans = answer.more > 0 ? answer.more : nil
    }

    package init(from decoder: any Decoder) throws {
        summary = try RequestSummary(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        requestHeaders = try container.decode([String: [String]].self, forKey: .requestHeaders)
        responseHeaders = try container.decode([String: [String]].self, forKey: .responseHeaders)
        requestBody = try container.decodeIfPresent(String.self, forKey: .requestBody)
        responseBody = try container.decodeIfPresent(String.self, forKey: .responseBody)
        attributes = try container.decode([String: String].self, forKey: .attributes)
        trace = try container.decode([TraceSpan].self, forKey: .trace)
        moreSpans = try container.decodeIfPresent(Int.self, forKey: .moreSpans)
    }

    package func encode(to encoder: any Encoder) throws {
        try summary.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(requestHeaders, forKey: .requestHeaders)
        try container.encode(responseHeaders, forKey: .responseHeaders)
        try container.encodeIfPresent(requestBody, forKey: .requestBody)
        try container.encodeIfPresent(responseBody, forKey: .responseBody)
        try container.encode(attributes, forKey: .attributes)
        try container.encode(trace, forKey: .trace)
        try container.encodeIfPresent(moreSpans, forKey: .moreSpans)
    }
}

/// A span of a trace, as shown next to a request.
package struct TraceSpan: Sendable, Equatable, Codable {
    package var id: String
    package var spanID: String
    package var parentSpanID: String?
    package var service: String
    package var instance: String
    package var name: String
    /// `internal`, `client`, `server`, `producer` or `consumer`.
    package var kind: String
    /// The start by the sender's clock, RFC 3339 in milliseconds, UTC.
    package var time: String
    /// Milliseconds after the first span's start; senders' clocks may differ.
    package var offset: Double
    /// Milliseconds.
    package var duration: Double
    package var isError: Bool
    package var status: Int?
    package var error: String?
    /// The called system of a request, such as `postgresql`; `nil`, and left out, for HTTP and for spans that are no requests.
    package var system: String?
    /// The method, host and endpoint of a request; empty for other spans. Not in JSON.
    var target: [String] = []

    private enum CodingKeys: String, CodingKey {
        case id, service, instance, name, kind, time, status, error, system
        case spanID = "span_id"
        case parentSpanID = "parent_span_id"
        case offset = "offset_ms"
        case duration = "duration_ms"
        case isError = "is_error"
    }

    /// - Parameter first: the start of the trace's first span.
    package init(_ stored: StoredSpan, after first: UnixNanoseconds) {
        let span = stored.span
        id = stored.id
        spanID = span.spanID.description
        parentSpanID = span.parentSpanID?.description
        (service, instance) = (stored.resource.service, stored.resource.instance)
        (name, kind) = (span.name, span.kind.rawValue)
        time = TimeText.milliseconds(span.start)
        offset = Double(span.start - min(first, span.start)) / 1e6
        duration = Double(span.durationNanoseconds) / 1e6
        isError = span.isError
        (status, error, system) = (span.request?.status, span.request?.error, span.request?.system)
        target = span.request.map { [$0.method, $0.authority, $0.endpoint] } ?? []
    }
}

extension SpanAttribute {
    /// The value as a person reads it.
    fileprivate var text: String {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .double(let number): String(number)
        case .boolean(let value): String(value)
        case .array(let elements): elements.map(\.text).joined(separator: ", ")
        }
    }
}

extension RequestReport {
    /// The address that the request was sent to. An incoming request has only the path; its header or its span may have the host.
    /// `nil` if the address or its host is not kept.
    package var address: String? {
        guard let url = summary.url, url.hasPrefix("/") else { return summary.url }
        let host = requestHeaders["host"]?.first ?? summary.host
        guard !host.isEmpty else { return nil }
        return "\(attributes["url.scheme"] ?? "http")://\(host)\(url)"
    }
}

/// The attributes of a kept span, grouped by their meaning.
struct SpanContents {
    /// Milliseconds by ``RequestPhase``.
    private(set) var phases: [String: Double] = [:]
    private(set) var requestHeaders: [String: [String]] = [:]
    private(set) var responseHeaders: [String: [String]] = [:]
    private(set) var requestBody: String?
    private(set) var responseBody: String?
    /// All other attributes.
    private(set) var others: [String: SpanAttribute] = [:]

    init(_ span: SpanRecord) {
        for (name, value) in span.attributes where !add(name, value) { others[name] = value }
    }

    /// The longest phase that is accepted, in seconds: some thirty years.
    private static let longestPhase = 1e9

    /// Returns `false` for an attribute without a matching property.
    private mutating func add(_ name: String, _ value: SpanAttribute) -> Bool {
        if let phase = name.suffix(after: AttributeName.phase), RequestPhase(rawValue: phase) != nil,
            case .double(let seconds) = value
        {
            // A time that makes no sense is left out. JSON could not express infinity.
            if (0...Self.longestPhase).contains(seconds) { phases[phase] = seconds * 1000 }
        } else if let field = name.suffix(after: AttributeName.requestHeaderPrefix), let texts = value.texts {
            requestHeaders[field] = texts
        } else if let field = name.suffix(after: AttributeName.responseHeaderPrefix), let texts = value.texts {
            responseHeaders[field] = texts
        } else if name == AttributeName.requestBody, case .string(let text) = value {
            requestBody = text
        } else if name == AttributeName.responseBody, case .string(let text) = value {
            responseBody = text
        } else {
            return false
        }
        return true
    }
}

extension String {
    /// Returns the text after a prefix and a dot; `nil` if the text does not begin with them.
    fileprivate func suffix(after prefix: String) -> String? {
        hasPrefix(prefix + ".") ? String(dropFirst(prefix.count + 1)) : nil
    }
}

extension SpanAttribute {
    /// The value as a list of texts; `nil` if it is neither a text nor a list of texts.
    fileprivate var texts: [String]? {
        switch self {
        case .string(let text): [text]
        case .array(let elements):
            elements.reduce([]) { texts, value in
                guard let texts, case .string(let text) = value else { return nil }
                return texts + [text]
            }
        case .integer, .double, .boolean: nil
        }
    }
}
