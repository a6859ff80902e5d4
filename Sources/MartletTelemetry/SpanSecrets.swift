/// The secrets that instruments may put into the attributes of spans: in URLs and in header fields with sensitive names
/// (``SensitiveNames``). Both the agent and the collector remove them.
package enum SpanSecrets {
    /// The text that replaces a secret (OpenTelemetry semantic conventions, "url.full").
    package static let placeholder = "REDACTED"

    /// Returns the attribute without secrets: a URL without user, password, query and fragment, and a placeholder for a
    /// header that carries credentials. `nil` for an attribute that must not be kept: a query or a fragment.
    package static func plain(_ value: SpanAttribute, named name: String) -> SpanAttribute? {
        guard name.hasPrefix("url.") || name.hasPrefix("http.") else { return value }
        if name == "url.query" || name == "url.fragment" { return nil }
        let header = header(named: name)
        if let header, names.contains(Array(header.utf8)[...]) { return value.mapText { _ in placeholder } }
        let hasURL = urls.contains(name) || header.map(urlHeaders.contains) == true
        return hasURL ? value.mapText(PlainURL.text) : value
    }

    /// Returns whether the attribute is a URL or the path of one.
    package static func isURL(_ name: String) -> Bool { urls.contains(name) || name == "url.path" }

    /// Returns the name of the header whose value the attribute has; `nil` for other attributes. Some instruments write
    /// `_` for `-`.
    package static func header(named name: String) -> String? {
        let prefix = name.hasPrefix(requestHeader) ? requestHeader : responseHeader
        guard name.hasPrefix(prefix) else { return nil }
        return name.dropFirst(prefix.count).lowercased().replacing("_", with: "-")
    }

    private static let requestHeader = "http.request.header."
    private static let responseHeader = "http.response.header."
    private static let urls: Set<String> = ["url.full", "url.original", "http.url", "http.target"]
    /// The header fields whose values are URLs, in lower case.
    package static let urlHeaders: Set<String> = ["location", "content-location", "referer"]
    private static let names = SensitiveNames()
}

extension SpanAttribute {
    /// Returns the attribute with each of its texts changed.
    package func mapText(_ change: (String) -> String) -> SpanAttribute {
        switch self {
        case .string(let text): .string(change(text))
        case .array(let elements): .array(elements.map { $0.mapText(change) })
        case .integer, .double, .boolean: self
        }
    }
}

/// The room for attributes that one span, its events and its links share. A plain value.
package struct AttributeRoom: Sendable {
    private let count: Int
    private let nameBytes: Int
    private let bytes: Int
    /// Bytes of the names and values that fitted so far.
    package private(set) var taken = 0
    /// Attributes that did not fit so far.
    package private(set) var dropped: UInt32 = 0

    /// - Parameters:
    ///   - count: attributes that the span, each event and each link may have.
    ///   - nameBytes: bytes that the name of an attribute may have.
    ///   - bytes: bytes that all names and values may have together.
    package init(count: Int, nameBytes: Int, bytes: Int) {
        self.count = count
        self.nameBytes = nameBytes
        self.bytes = bytes
    }

    /// Returns the attributes that fit, with secrets removed by ``SpanSecrets``. Of several attributes with the same
    /// name the first is kept. A value that cannot be kept is `nil` and counts as dropped.
    package mutating func take(
        _ attributes: some Sequence<(name: String, value: SpanAttribute?)>
    ) -> [String: SpanAttribute] {
        var kept: [String: SpanAttribute] = [:]
        kept.reserveCapacity(min(attributes.underestimatedCount, count))
        for (name, value) in attributes where kept[name] == nil {
            guard let value else {
                dropped &+= 1
                continue
            }
            guard let value = SpanSecrets.plain(value, named: name) else { continue }
            if kept.count < count, take(name, value) { kept[name] = value } else { dropped &+= 1 }
        }
        return kept
    }

    private mutating func take(_ name: String, _ value: SpanAttribute) -> Bool {
        let size = name.utf8.count + value.size
        guard name.utf8.count <= nameBytes, size <= bytes - taken else { return false }
        taken += size
        return true
    }
}

extension SpanAttribute {
    /// The approximate size in bytes.
    fileprivate var size: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .integer, .double, .boolean: 8
        case .array(let elements): elements.reduce(8) { $0 + $1.size }
        }
    }
}

/// A URL without its secrets. Senders other than Martlet may leave credentials and queries in URLs.
package enum PlainURL {
    /// Returns scheme, host, port and path. Reads bytes, because a `Character` may hide a `?` or an `@`.
    package static func text(of url: String) -> String {
        let plain = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let slashes = plain.firstRange(of: "://".utf8) else { return String(Substring(plain)) }
        let authority = plain[slashes.upperBound...].prefix { $0 != UInt8(ascii: "/") }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return String(Substring(plain)) }
        return String(Substring(plain[..<slashes.upperBound])) + String(Substring(plain[plain.index(after: at)...]))
    }
}

extension String {
    /// Returns the first `limit` bytes of the text, without a character that the limit would cut in two.
    package func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
