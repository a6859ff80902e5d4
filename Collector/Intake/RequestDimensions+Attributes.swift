import Foundation
import MartletOTLP
import MartletStorage
import MartletTelemetry

extension RequestDimensions {
    /// The dimensions of a point, from the stable or the earlier names of the semantic conventions.
    init(_ requests: MeasuredRequests, _ attributes: [OTLPKeyValue]) {
        switch requests.conventions {
        case .http, .rpc: self.init(kind: requests.kind, attributes: attributes)
        case .database: self.init(ofCall: attributes, systemName: "db.system")
        case .messaging: self.init(ofCall: attributes, systemName: AttributeName.messagingSystem)
        }
    }

    /// The dimensions of a point of calls of a database or a message broker. The conventions require the system's name, so it is
    /// `_OTHER` if it is missing.
    private init(ofCall attributes: [OTLPKeyValue], systemName: String) {
        let limits = IntakeLimits()
        let call = SystemSpanAttributes(.client) { name in
            attributes.spanAttribute(name, limits) ?? (name == systemName ? .string(Self.otherMethodOrError) : nil)
        }
        self.init(
            kind: .client, method: Self.otherMethodOrError, host: "", port: 0, endpoint: Self.unknownEndpoint,
            status: nil, error: nil)
        system = Self.otherMethodOrError
        if let call { self = Self(call, error: call.error(isError: false, exception: nil)) }
    }

    /// The dimensions of a call of a database or a message broker, which has no status.
    init(_ call: SystemSpanAttributes, error: String?) {
        let server = call.host.map(ServerName.init)
        let port = call.port ?? server?.port ?? 0
        self.init(
            kind: .client, method: call.operation, host: server?.host ?? "",
            port: (0...65535).contains(port) ? port : 0, endpoint: call.endpoint, status: nil, error: error)
        system = call.system
    }

    /// The dimensions of a point of HTTP requests, or of remote procedure calls that an agent counts as such.
    init(kind: RequestKind, attributes: [OTLPKeyValue]) {
        let server = ServerAttributes(kind: kind, attributes)
        let stableMethod = attributes.text(AttributeName.method)
        let status = (attributes.integer(AttributeName.status) ?? attributes.integer("http.status_code"))
            .flatMap { (100...999).contains($0) ? $0 : nil }
        // Before the stable names, a client showed only by a missing status that a request got no answer.
        let hasFailed = stableMethod == nil && attributes.text("http.method") != nil && kind == .client && status == nil
        self.init(
            kind: kind,
            method: stableMethod ?? attributes.text("http.method") ?? RequestDimensions.otherMethodOrError,
            host: server.host ?? "", port: server.port ?? 0,
            endpoint: Self.endpoint(kind, attributes) ?? Self.unknownEndpoint,
            status: status,
            error: attributes.text(AttributeName.errorType)
                ?? (hasFailed ? RequestDimensions.otherMethodOrError : nil))
        system = attributes.text(AttributeName.rpcSystem) ?? attributes.text("rpc.system")
        rule = attributes.text(AttributeName.rule)
        nameFailure()
    }

    /// Returns the endpoint; `nil` if the attributes name none. An agent's own name comes first. `http.target` is used if the
    /// route is missing: a metric needs few values, so an instrument that puts the path there has replaced its variable parts
    /// with names.
    private static func endpoint(_ kind: RequestKind, _ attributes: [OTLPKeyValue]) -> String? {
        let name = kind == .client ? AttributeName.urlTemplate : AttributeName.route
        if let endpoint = attributes.text(AttributeName.endpoint) ?? attributes.text(name) { return endpoint }
        guard kind == .server, let path = attributes.text("http.target")?.prefix(while: { $0 != "?" }) else {
            return nil
        }
        return path.isEmpty ? nil : String(path)
    }

    /// The dimensions of a span. Texts are cut to the length above which a point is refused. Before the stable names, some
    /// instruments named a server only in the URL.
    init(kind: RequestKind, _ http: HTTPSpanAttributes, _ limits: IntakeLimits) {
        let cut = { (text: String) in text.cut(toBytes: limits.maxAttributeBytes) }
        let named = http.host.map(ServerName.init)
        let given = ServerName.port(http.port) ?? named?.port
        let url = named != nil && given != nil ? nil : http.url.flatMap(URLComponents.init(string:))
        let server = named ?? url?.host.map(ServerName.init)
        let usual = server == nil ? nil : ServerName.port(ofScheme: url?.scheme ?? http.scheme)
        self.init(
            kind: kind, method: cut(http.method), host: cut(server?.host ?? ""),
            port: given ?? ServerName.port(url?.port) ?? usual ?? 0,
            endpoint: cut(http.endpoint ?? http.route ?? Self.unknownEndpoint),
            status: http.status.flatMap { (100...999).contains($0) ? $0 : nil }, error: http.errorType.map(cut))
        rule = http.rule.map(cut)
        nameFailure()
    }

    /// Names a failure by its status if the sender gives it no other name, as the semantic conventions do ("HTTP Metrics",
    /// `error.type`). So the same failure has the same name whichever sender reports it.
    private mutating func nameFailure() {
        guard error == nil, outcome.isFailure(for: kind) else { return }
        error = status.map(String.init)
    }

    /// The length in bytes of the longest text that distinguishes series.
    var longestText: Int { [system, method, host, endpoint, error, rule].map { $0?.utf8.count ?? 0 }.max() ?? 0 }
}

/// The server of a request, from a point's attributes with stable or earlier names ("HTTP semantic convention stability
/// migration").
struct ServerAttributes {
    let host: String?
    private(set) var port: Int?

    init(kind: RequestKind, _ attributes: [OTLPKeyValue]) {
        // Before the stable names, a client called the server its peer.
        let side = kind == .client ? "net.peer" : "net.host"
        let text =
            attributes.text(AttributeName.serverAddress) ?? attributes.text("\(side).name")
            ?? attributes.text("http.host")
        let name = text.map(ServerName.init)
        host = name?.host
        port =
            ServerName.port(attributes.integer(AttributeName.serverPort) ?? attributes.integer("\(side).port"))
            ?? name?.port
        if port == nil, host != nil {
            port = ServerName.port(ofScheme: attributes.text("url.scheme") ?? attributes.text("http.scheme"))
        }
    }
}

/// A server's name in an attribute. Some instruments take it from the `Host` header, with its port.
struct ServerName {
    /// In the form that the store keeps (``RequestDimensions/storedHost(_:)``).
    let host: String
    let port: Int?

    /// `example.com`, `example.com:8080`, `::1`, `[::1]:8080`
    init(_ text: String) {
        let bracket = text.lastIndex(of: "]")
        let isAddress = bracket == nil && text.count { $0 == ":" } > 1
        let colon = isAddress ? nil : text.lastIndex(of: ":").flatMap { $0 > bracket ?? text.startIndex ? $0 : nil }
        host = RequestDimensions.storedHost(text[..<(colon ?? text.endIndex)])
        port = Self.port(colon.flatMap { Int(text[text.index(after: $0)...]) })
    }
}

extension ServerName {
    /// Returns the port; `nil` if no server has it. Some instruments write -1 or 0 where they know none.
    static func port(_ number: Int?) -> Int? {
        number.flatMap { (1...65535).contains($0) ? $0 : nil }
    }

    /// Returns the port of an address that has none; `nil` if the scheme is unknown.
    static func port(ofScheme scheme: String?) -> Int? {
        switch scheme?.lowercased() {
        case "http", "ws": 80
        case "https", "wss": 443
        default: nil
        }
    }
}

extension [OTLPKeyValue] {
    /// Returns the text of an attribute; `nil` if it is missing, empty or not a text. A text longer than
    /// ``IntakeLimits/longestName`` is returned unchanged, and the caller refuses or cuts it.
    func text(_ name: String) -> String? {
        guard case .stringValue(let text)? = first(where: { $0.key == name })?.value.value, !text.isEmpty else {
            return nil
        }
        return text.utf8.count <= IntakeLimits.longestName ? text.storable(upTo: 3 * IntakeLimits.longestName) : text
    }

    /// Returns a whole number, which some pipelines write as a text or as a floating-point number.
    func integer(_ name: String) -> Int? {
        switch first(where: { $0.key == name })?.value.value {
        case .intValue(let value)?: Int(exactly: value)
        case .doubleValue(let value)?: Int(exactly: value)
        case .stringValue(let text)?: Int(text)
        default: nil
        }
    }
}

extension String {
    /// Returns the text cut to `limit` bytes, with U+FFFD for U+0000. SQLite ends a text at U+0000, so the stored name would be
    /// another one or empty. The text is cut first, because the replacement may triple its size.
    func storable(upTo limit: Int) -> String {
        let beginning = cut(toBytes: limit)
        guard beginning.utf8.contains(0) else { return beginning }
        let scalars = beginning.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }
        return String(String.UnicodeScalarView(scalars)).cut(toBytes: limit)
    }
}
