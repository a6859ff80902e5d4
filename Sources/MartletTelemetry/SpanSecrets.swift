/// The secrets that instruments may put into the attributes of spans. Both programs remove them, and a name counts in full.
/// For the headers that capture keeps, the agent has a longer list, of parts of names (`SensitiveNames`).
package enum SpanSecrets {
    /// The text that replaces a secret (OpenTelemetry semantic conventions, "url.full").
    package static let placeholder = "REDACTED"

    /// Returns the attribute without secrets: a URL without user, password, query and fragment, and a placeholder for a
    /// header that carries credentials. `nil` for an attribute that must not be kept: a query or a fragment.
    package static func plain(_ value: SpanAttribute, named name: String) -> SpanAttribute? {
        guard name.hasPrefix("url.") || name.hasPrefix("http.") else { return value }
        if name == "url.query" || name == "url.fragment" { return nil }
        let header = header(named: name)
        if header.map(credentials.contains) == true { return value.mapText { _ in placeholder } }
        let hasURL = urls.contains(name) || header.map(urlHeaders.contains) == true
        return hasURL ? value.mapText(PlainURL.text) : value
    }

    /// Returns whether the attribute has a URL or the path of one.
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
    private static let credentials: Set<String> = [
        "authorization", "proxy-authorization", "authentication-info", "www-authenticate", "proxy-authenticate",
        "cookie", "set-cookie", "x-api-key", "api-key", "x-auth-token", "x-access-token", "x-csrf-token",
        "x-amz-security-token",
    ]
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
