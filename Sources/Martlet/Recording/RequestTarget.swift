import Foundation

/// What a URL says of where a request goes; no user, no password, no query, no fragment.
struct RequestTarget: Sendable {
    /// In lower case, an IPv6 address without brackets.
    let host: String
    /// The scheme's own where the URL names none.
    let port: Int
    /// Percent-encoded, as it stands in the URL.
    let path: String

    init(_ url: URL) {
        host = url.host(percentEncoded: true)?.lowercased() ?? ""
        port = url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
        path = url.path(percentEncoded: true)
    }

    /// As a URL writes it.
    var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }
}
