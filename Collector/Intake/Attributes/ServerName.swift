/// A server's name in an attribute: alone, or with its port, as some instruments take it from the `Host` header.
struct ServerName {
    /// In lower case, because the case of a host has no meaning (RFC 3986, section 3.2.2): one server has one name.
    let host: String
    let port: Int?

    /// `example.com`, `example.com:8080`, `::1`, `[::1]:8080`
    init(_ text: String) {
        let bracket = text.lastIndex(of: "]")
        let isAddress = bracket == nil && text.count { $0 == ":" } > 1
        let colon = isAddress ? nil : text.lastIndex(of: ":").flatMap { $0 > bracket ?? text.startIndex ? $0 : nil }
        let name = text[..<(colon ?? text.endIndex)]
        let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
        host = (isBracketed ? name.dropFirst().dropLast() : name).lowercased()
        port = colon.flatMap { Int(text[text.index(after: $0)...]) }
    }
}
