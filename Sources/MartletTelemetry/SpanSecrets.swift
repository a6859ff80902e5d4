/// The secrets that instruments may put into the attributes of spans: in URLs, in header fields with sensitive names
/// (``SensitiveNames``), and in the values of statements. Both the agent and the collector remove them.
package enum SpanSecrets {
    /// The text that replaces a secret (OpenTelemetry semantic conventions, "url.full").
    package static let placeholder = "REDACTED"

    /// Returns the attribute without secrets: a URL without user, password, query and fragment, and a placeholder for a
    /// header that carries credentials. `nil` for an attribute that must not be kept: a query, a fragment, or a value of a
    /// statement. For statements see ``isStatement(_:)``.
    package static func plain(_ value: SpanAttribute, named name: String) -> SpanAttribute? {
        if name.hasPrefix("db.") { return databaseValues.contains { name.hasPrefix($0) } ? nil : value }
        guard name.hasPrefix("url.") || name.hasPrefix("http.") else { return value }
        if name == "url.query" || name == "url.fragment" { return nil }
        let header = header(named: name)
        if let header, names.contains(Array(header.utf8)[...]) { return value.mapText { _ in placeholder } }
        let hasURL = urls.contains(name) || header.map(urlHeaders.contains) == true
        return hasURL ? value.mapText(PlainURL.text) : value
    }

    /// Returns whether the attribute is a URL or the path of one.
    package static func isURL(_ name: String) -> Bool { urls.contains(name) || name == "url.path" }

    /// Returns whether the attribute is a statement of a database, or may hold one. Only what has no values is kept.
    package static func isStatement(_ name: String) -> Bool { statements.contains(name) }

    /// Returns the part of a statement without values; `nil` for none.
    static func withoutValues(_ statement: String, named name: String, system: String?) -> String? {
        switch name {
        case "db.query.summary": StatementShape.summary(statement, system: system)
        case "db.operation.name", "db.operation": StatementShape.operation(statement, system: system)
        default: StatementShape(statement, system: system, limit: StatementShape.maxTextLength)?.text
        }
    }

    /// The attributes that name the database of a statement.
    static let systems: Set<String> = ["db.system.name", "db.system"]
    private static let statements: Set<String> = [
        "db.query.text", "db.statement", "db.query.summary", "db.operation.name", "db.operation",
    ]
    /// The beginnings of the names of values: parameters, passwords, and identifiers of documents.
    private static let databaseValues = [
        "db.query.parameter", "db.operation.parameter", "db.statement.parameter", "db.sql.parameter",
        "db.connection_string", "db.elasticsearch.path_parts", "db.redis.key", "db.memcached.item",
        "db.postgresql.values", "db.mysql.values",
    ]

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
    ///
    /// - Parameter system: the database of statements among the attributes; `nil` if one of the attributes names it.
    package mutating func take(
        _ attributes: some Sequence<(name: String, value: SpanAttribute?)>, system: String? = nil
    ) -> [String: SpanAttribute] {
        var kept: [String: SpanAttribute] = [:]
        var statements: [(name: String, text: String)] = []
        var system = system
        kept.reserveCapacity(min(attributes.underestimatedCount, count))
        for (name, value) in attributes where kept[name] == nil {
            if let value, SpanSecrets.isStatement(name) {
                if case .string(let text) = value { statements.append((name, text)) }
                continue
            }
            if system == nil, SpanSecrets.systems.contains(name), case .string(let text)? = value { system = text }
            keep(value, named: name, in: &kept)
        }
        for (name, text) in statements where kept[name] == nil {
            guard let plain = SpanSecrets.withoutValues(text, named: name, system: system) else { continue }
            keep(.string(plain), named: name, in: &kept)
        }
        return kept
    }

    private mutating func keep(_ value: SpanAttribute?, named name: String, in kept: inout [String: SpanAttribute]) {
        guard let value else { return dropped &+= 1 }
        guard let value = SpanSecrets.plain(value, named: name) else { return }
        if kept.count < count, take(name, value) { kept[name] = value } else { dropped &+= 1 }
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
