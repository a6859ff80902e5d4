/// Where a URL's text has its host, port and path, found without taking the URL apart: this runs in the time of a service's
/// request. No user, password, query or fragment lies in any of them.
struct PlainTarget {
    private(set) var host = 0..<0
    /// 0 where it cannot be read.
    private(set) var port = 80
    private(set) var path = 0..<0

    /// Empty where the text is no URL with an authority.
    init(of url: UnsafeBufferPointer<UInt8>) {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), colon + 2 < url.count,
            url[colon + 1] == UInt8(ascii: "/"), url[colon + 2] == UInt8(ascii: "/")
        else { return }
        let start = takeAuthority(url, from: colon + 3)
        var end = start
        while end < url.count, url[end] != UInt8(ascii: "?"), url[end] != UInt8(ascii: "#") { end += 1 }
        path = start..<end
        // "https" is the one scheme of five letters.
        if port == 0 { port = colon == 5 ? 443 : 80 }
    }

    /// Returns where it ends. What stands before its last `@` is user and password; an IPv6 address has brackets, which are
    /// no part of it.
    private mutating func takeAuthority(_ url: UnsafeBufferPointer<UInt8>, from first: Int) -> Int {
        var (start, end, colon) = (first, first, -1)
        while end < url.count {
            let byte = url[end]
            // Letters and digits, in one comparison each.
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

    /// 0 where it is none.
    private static func number(_ url: UnsafeBufferPointer<UInt8>, _ digits: Range<Int>) -> Int {
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
