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
