import MartletTelemetry

/// The attributes of a span that describe an HTTP request, with their stable names or the earlier names of the semantic
/// conventions ("HTTP semantic convention stability migration").
package struct HTTPSpanAttributes: Sendable, Equatable {
    package var method: String
    /// The URL as the instrument gives it; it may contain secrets.
    package var url: String?
    /// The server's name or address.
    package var host: String?
    package var port: Int?
    /// The path without the query, percent-encoded or not, depending on the instrument.
    package var path: String?
    /// A server's route or a client's template.
    package var route: String?
    /// The name under which an agent counted a served request without a route.
    package var endpoint: String?
    /// `http` or `https`.
    package var scheme: String?
    package var httpVersion: HTTPVersion?
    package var status: Int?
    package var errorType: String?
    /// The name of the rule that changed the request.
    package var rule: String?
    package var requestBodySize: UInt64
    package var responseBodySize: UInt64

    /// `nil` if the span is not an HTTP request or says that it must not be counted.
    ///
    /// - Parameter value: looks an attribute up by its name.
    package init?(_ kind: RequestKind, value: (String) -> SpanAttribute?) {
        guard let method = SpanValue.text(AttributeName.method, "http.method", value),
            value(AttributeName.isCounted) != .boolean(false)
        else { return nil }
        let (oldHost, oldPort) = Self.oldServerNames(for: kind)
        self.method = method
        url = SpanValue.text(AttributeName.urlFull, "http.url", value)
        // On a server, whoever calls it chooses this name.
        let header = kind == .client ? SpanValue.text("http.host", nil, value) : nil
        host = SpanValue.text(AttributeName.serverAddress, oldHost, value) ?? header
        port = SpanValue.integer(AttributeName.serverPort, oldPort, value)
        path = SpanValue.text(AttributeName.urlPath, "http.target", value).map { text in
            String(Substring(text.utf8.prefix { $0 != UInt8(ascii: "?") }))
        }
        route = SpanValue.text(kind == .client ? AttributeName.urlTemplate : AttributeName.route, nil, value)
        endpoint = SpanValue.text(AttributeName.endpoint, nil, value)
        scheme = SpanValue.text(AttributeName.urlScheme, "http.scheme", value)
        httpVersion = SpanValue.text(AttributeName.protocolVersion, "http.flavor", value).flatMap(HTTPVersion.init)
        status = SpanValue.integer(AttributeName.status, "http.status_code", value)
        errorType = SpanValue.text(AttributeName.errorType, nil, value)
        rule = SpanValue.text(AttributeName.rule, nil, value)
        requestBodySize = Self.size(AttributeName.requestBodySize, "http.request_content_length", value)
        responseBodySize = Self.size(AttributeName.responseBodySize, "http.response_content_length", value)
    }

    /// Returns whether ``SpanRecord/request``, ``SpanRecord/url`` and the sizes of a request already hold the
    /// attribute.
    ///
    /// - Parameters:
    ///   - kind: the side of the request; `nil` for a span that is not a request. The result is `false` then.
    ///   - hasStatus: whether the request holds the status: see ``takeOverruledStatus(_:)``.
    package static func covers(_ name: String, of kind: RequestKind?, hasStatus: Bool = true) -> Bool {
        guard let kind, hasStatus || !statusNames.contains(name) else { return false }
        let (oldHost, oldPort) = oldServerNames(for: kind)
        return names.contains(name) || name == oldHost || name == oldPort
    }

    /// Takes out the error, and a status that is a failure, for a span whose author marked it `ok`. That mark is final: it
    /// suppresses errors that would otherwise be seen, such as 404s (OpenTelemetry specification, "Tracing API", section
    /// "Set Status"). A request with such a status cannot be a success, so it is counted without one.
    ///
    /// - Returns: whether it took the status, which then belongs to the span's other attributes.
    package mutating func takeOverruledStatus(_ kind: RequestKind) -> Bool {
        errorType = nil
        guard RequestOutcome(kind: kind, status: status, error: nil).isFailure(for: kind) else { return false }
        status = nil
        return true
    }

    private static let statusNames: Set<String> = [AttributeName.status, "http.status_code"]

    private static let names: Set<String> = [
        AttributeName.method, "http.method", AttributeName.urlFull, "http.url", AttributeName.serverAddress,
        AttributeName.serverPort, AttributeName.urlPath, "http.target", AttributeName.urlTemplate, AttributeName.route,
        AttributeName.status, "http.status_code", AttributeName.errorType, AttributeName.requestBodySize,
        "http.request_content_length", AttributeName.responseBodySize, "http.response_content_length",
        AttributeName.rule, AttributeName.endpoint,
    ]

    /// Returns the names from before `server.address`, when the span of a client called the server its peer.
    private static func oldServerNames(for kind: RequestKind) -> (host: String, port: String) {
        kind == .client ? ("net.peer.name", "net.peer.port") : ("net.host.name", "net.host.port")
    }

    private static func size(_ name: String, _ old: String, _ value: (String) -> SpanAttribute?) -> UInt64 {
        UInt64(max(0, SpanValue.integer(name, old, value) ?? 0))
    }
}

/// Readers of attributes whose name, type or both changed with the conventions.
enum SpanValue {
    static func text(_ name: String, _ old: String?, _ value: (String) -> SpanAttribute?) -> String? {
        if case .string(let text)? = value(name), !text.isEmpty { return text }
        return old.flatMap { text($0, nil, value) }
    }

    /// Returns a whole number. Some pipelines write it as a text or as a floating-point number.
    static func integer(_ name: String, _ old: String?, _ value: (String) -> SpanAttribute?) -> Int? {
        switch value(name) {
        case .integer(let number)?: Int(exactly: number)
        case .double(let number)?: Int(exactly: number)
        case .string(let text)?: Int(text)
        default: old.flatMap { integer($0, nil, value) }
        }
    }
}
