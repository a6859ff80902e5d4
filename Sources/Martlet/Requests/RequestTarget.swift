import Foundation

/// The host, port and path that a request goes to, without user, password, query and fragment.
struct RequestTarget: Sendable {
    /// The host in lower case, an IPv6 address without brackets; empty if it is unknown.
    let host: String
    /// The port: the scheme's default where the URL names none, and 0 where it is unknown.
    let port: Int
    /// The path as in the URL, percent-encoded.
    let path: String

    init(host: String, port: Int, path: String) {
        self.host = host
        self.port = port
        self.path = path
    }

    init(_ url: URL) { self.init(url: url.absoluteString) }

    /// - Parameter url: the text of a URL. The text of anything else gives an empty target.
    init(url: String) {
        var text = url
        self = text.withUTF8 { text in
            let target = TargetRanges(of: text)
            return RequestTarget(
                host: String(decoding: text[target.host], as: UTF8.self).lowercased(), port: target.port,
                path: String(decoding: text[target.path], as: UTF8.self))
        }
    }

    /// The host as in a URL, an IPv6 address in brackets.
    var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }
}

/// A request's target as its instrument has it. A URL becomes a ``RequestTarget`` when the request is folded into the
/// statistics, on another thread than the one that made it, or earlier if a pattern needs it.
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

/// The positions of the host and the path in a URL's text, and its port. They are found without a URL parser, because
/// this runs on the service's time. None of them contains a user, password, query or fragment.
struct TargetRanges {
    private(set) var host = 0..<0
    /// The port; the default of `http` or `https` if the text has none that can be read.
    private(set) var port = 80
    private(set) var path = 0..<0

    /// Reads a URL's text. Host and path are empty if it has no authority.
    init(of url: UnsafeBufferPointer<UInt8>) {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), colon + 2 < url.count,
            url[colon + 1] == UInt8(ascii: "/"), url[colon + 2] == UInt8(ascii: "/")
        else { return }
        let start = takeAuthority(url, from: colon + 3)
        var end = start
        while end < url.count, url[end] != UInt8(ascii: "?"), url[end] != UInt8(ascii: "#") { end += 1 }
        path = start..<end
        // The only scheme of five letters is "https".
        if port == 0 { port = colon == 5 ? 443 : 80 }
    }

    /// Reads host and port. Returns the index at which the authority ends. The text before its last `@` is user and
    /// password. The brackets of an IPv6 address are not part of the host.
    private mutating func takeAuthority(_ url: UnsafeBufferPointer<UInt8>, from first: Int) -> Int {
        var (start, end, colon) = (first, first, -1)
        while end < url.count {
            let byte = url[end]
            // This comparison skips most letters and digits at once.
            if byte > UInt8(ascii: "]") || byte &- UInt8(ascii: "0") < 10 {
                end += 1
                continue
            }
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
            if byte == UInt8(ascii: "@") { (start, colon) = (end + 1, -1) }
            if byte == UInt8(ascii: ":") { colon = end }
            if byte == UInt8(ascii: "]") { colon = -1 }
            end += 1
        }
        host = start..<(colon < 0 ? end : colon)
        port = colon < 0 ? 0 : Self.number(url, colon + 1..<end)
        if host.count >= 2, url[start] == UInt8(ascii: "["), url[host.upperBound - 1] == UInt8(ascii: "]") {
            host = start + 1..<host.upperBound - 1
        }
        return end
    }

    /// Returns the number in `digits`; 0 if they form none or are more than five without leading zeros.
    private static func number(_ url: UnsafeBufferPointer<UInt8>, _ digits: Range<Int>) -> Int {
        let digits = digits.drop { url[$0] == UInt8(ascii: "0") }
        guard digits.count <= 5 else { return 0 }
        var number = 0
        for index in digits {
            let digit = Int(url[index]) - Int(UInt8(ascii: "0"))
            guard digit >= 0, digit <= 9 else { return 0 }
            number = number * 10 + digit
        }
        return number
    }
}
