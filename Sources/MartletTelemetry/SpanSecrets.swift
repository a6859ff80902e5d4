/// What instruments put into the attributes of spans and may be secret.
package enum SpanSecrets {
    /// The attribute as it may be kept, a URL without user, password, query and fragment; `nil` for one that may not be: a
    /// query, or a header that carries credentials.
    package static func plain(_ value: SpanAttribute, named name: String) -> SpanAttribute? {
        guard name.hasPrefix("url.") || name.hasPrefix("http.") else { return value }
        let header = ["http.request.header.", "http.response.header."].first(where: name.hasPrefix)
            .map { name.dropFirst($0.count).lowercased().replacing("_", with: "-") }
        if name == "url.query" || header.map(credentials.contains) == true { return nil }
        return urls.contains(name) || header.map(urlHeaders.contains) == true ? plainURL(value) : value
    }

    private static func plainURL(_ value: SpanAttribute) -> SpanAttribute {
        switch value {
        case .string(let url): .string(PlainURL.text(of: url))
        case .array(let urls): .array(urls.map(plainURL))
        case .integer, .double, .boolean: value
        }
    }

    private static let urls: Set<String> = ["url.full", "url.original", "http.url", "http.target"]

    // Some instruments write a header's name with `_` for `-`.
    private static let urlHeaders: Set<String> = ["location", "content-location", "referer"]
    private static let credentials: Set<String> = [
        "authorization", "proxy-authorization", "authentication-info", "www-authenticate", "proxy-authenticate",
        "cookie", "set-cookie", "x-api-key", "api-key", "x-auth-token", "x-access-token", "x-csrf-token",
        "x-amz-security-token",
    ]
}
