/// Attributes of spans that instruments fill with what may be secret, and that are never kept.
package enum SpanSecrets {
    /// Query strings, and headers that carry credentials (`http.request.header.<name>`, with `-` or, as some instruments
    /// write it, `_`).
    package static func hides(_ name: String) -> Bool {
        if name == "url.query" { return true }
        guard let header = ["http.request.header.", "http.response.header."].first(where: name.hasPrefix) else {
            return false
        }
        return headers.contains(name.dropFirst(header.count).lowercased().replacing("_", with: "-"))
    }

    private static let headers: Set<String> = [
        "authorization", "proxy-authorization", "www-authenticate", "proxy-authenticate", "cookie", "set-cookie",
        "x-api-key", "api-key", "x-auth-token", "x-access-token", "x-csrf-token", "x-amz-security-token",
    ]
}
