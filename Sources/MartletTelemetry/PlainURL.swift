/// A URL without what may be secret in it. Senders other than Martlet may leave credentials and queries in.
package enum PlainURL {
    /// Scheme, host, port and path.
    package static func text(of url: String) -> String {
        let plain = url.prefix { $0 != "?" && $0 != "#" }
        guard let slashes = plain.firstRange(of: "://") else { return String(plain) }
        let authority = plain[slashes.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(plain) }
        return String(plain[..<slashes.upperBound] + plain[plain.index(after: at)...])
    }
}
