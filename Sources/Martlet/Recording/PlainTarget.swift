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
        let authority = Self.end(in: url, from: colon + 3, slash: UInt8(ascii: "/"))
        path = authority..<Self.end(in: url, from: authority, slash: UInt8(ascii: "?"))
        takeAuthority(url, colon + 3..<authority)
        // "https" is the one scheme of five letters.
        if port == 0 { port = colon == 5 ? 443 : 80 }
    }

    /// The first `slash`, `?` or `#`.
    private static func end(in url: UnsafeBufferPointer<UInt8>, from start: Int, slash: UInt8) -> Int {
        var index = start
        while index < url.count {
            let byte = url[index]
            if byte == slash || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { return index }
            index += 1
        }
        return index
    }

    /// What stands before the last `@` is user and password. An IPv6 address has brackets, which are no part of it.
    private mutating func takeAuthority(_ url: UnsafeBufferPointer<UInt8>, _ authority: Range<Int>) {
        var start = authority.lowerBound
        var colon: Int?
        for index in authority {
            switch url[index] {
            case UInt8(ascii: "@"): (start, colon) = (index + 1, nil)
            case UInt8(ascii: ":"): colon = index
            case UInt8(ascii: "]"): colon = nil
            default: break
            }
        }
        host = start..<(colon ?? authority.upperBound)
        port = colon.map { Self.number(url, $0 + 1..<authority.upperBound) } ?? 0
        guard !host.isEmpty, url[start] == UInt8(ascii: "["), url[host.upperBound - 1] == UInt8(ascii: "]") else {
            return
        }
        host = start + 1..<host.upperBound - 1
    }

    /// 0 where it is none.
    private static func number(_ url: UnsafeBufferPointer<UInt8>, _ digits: Range<Int>) -> Int {
        var number = 0
        for index in digits {
            let digit = Int(url[index]) - Int(UInt8(ascii: "0"))
            guard (0...9).contains(digit), number < 100_000 else { return 0 }
            number = number * 10 + digit
        }
        return number
    }
}
