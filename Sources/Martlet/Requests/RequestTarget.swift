import Foundation

/// The host, port and path that a request goes to, without user, password, query and fragment.
struct RequestTarget: Sendable {
    /// The host in lower case, an IPv6 address without brackets; empty where it is unknown.
    let host: String
    /// The port: the scheme's default where the URL names none, and 0 where it is unknown.
    let port: Int
    /// The path as it stands in the URL, percent-encoded.
    let path: String

    init(host: String, port: Int, path: String) {
        self.host = host
        self.port = port
        self.path = path
    }

    init(_ url: URL) {
        var text = url.absoluteString
        self = text.withUTF8 { text in
            let target = TargetRanges(of: text)
            return RequestTarget(
                host: String(decoding: text[target.host], as: UTF8.self).lowercased(), port: target.port,
                path: String(decoding: text[target.path], as: UTF8.self))
        }
    }

    /// The host as a URL writes it, an IPv6 address in brackets.
    var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }
}
