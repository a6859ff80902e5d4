import Foundation

/// Where a request goes; no user, no password, no query, no fragment.
struct RequestTarget: Sendable {
    /// In lower case, an IPv6 address without brackets. Empty where it is not known.
    let host: String
    /// The scheme's own where the URL names none; 0 where it is not known.
    let port: Int
    /// Percent-encoded, as it stands in the URL.
    let path: String

    init(host: String, port: Int, path: String) {
        self.host = host
        self.port = port
        self.path = path
    }

    init(_ url: URL) {
        var text = url.absoluteString
        self = text.withUTF8 { text in
            let target = PlainTarget(of: text)
            return RequestTarget(
                host: String(decoding: text[target.host], as: UTF8.self).lowercased(), port: target.port,
                path: String(decoding: text[target.path], as: UTF8.self))
        }
    }

    /// As a URL writes it.
    var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }
}

/// A target as an instrument has it: a URL is taken apart only when the request is folded into the statistics, away from
/// the thread that made it.
enum RequestDestination: Sendable {
    case url(URL)
    case target(RequestTarget)

    var url: URL? {
        if case .url(let url) = self { url } else { nil }
    }

    var target: RequestTarget {
        switch self {
        case .url(let url): RequestTarget(url)
        case .target(let target): target
        }
    }
}
