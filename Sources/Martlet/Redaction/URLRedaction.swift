/// Redacts a URL: it removes user and password, every query value, the values of path parameters, the fragment and,
/// unless they are kept, the values among a path's segments (``SegmentRedaction``).
///
/// It reads bytes and not a `URL`, because a server may send any text as `Location`, and because a `Character` may hide
/// a `?`.
struct URLRedaction {
    /// Whether to keep values among the segments of paths, `MARTLET_CAPTURE_PATHS`.
    let keepsSegments: Bool

    /// The text that replaces user and password (OpenTelemetry semantic conventions, "url.full").
    static let user = placeholder + ":".utf8 + placeholder + "@".utf8
    private static let placeholder = Redaction.placeholderBytes

    func redact(_ url: String) -> String {
        if isPlain(url) { return url }
        let bytes = Array(url.utf8)
        let start = bytes.firstIndex { $0 > UInt8(ascii: " ") } ?? bytes.endIndex
        let reference = bytes[start...].prefix { $0 != UInt8(ascii: "#") }
        let path = reference.prefix { $0 != UInt8(ascii: "?") }
        return String(decoding: location(path) + Self.query(reference[path.endIndex...]), as: UTF8.self)
    }

    /// Returns whether the URL has the form `scheme://host:port/path` and no character that begins, ends or separates a
    /// secret. Most URLs are plain; any other is redacted part by part.
    private func isPlain(_ url: String) -> Bool {
        url.utf8.withContiguousStorageIfAvailable { url in
            guard let colon = url.firstIndex(where: { !$0.isASCIIAlphanumeric }), colon > 0,
                url[colon...].starts(with: "://".utf8)
            else { return false }
            let rest = url[(colon + 3)...]
            let path = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            let port = rest[..<path].firstIndex(of: UInt8(ascii: ":")) ?? path
            return path - rest.startIndex <= Self.longestHost && rest[..<port].allSatisfy(Self.isPlain)
                && rest[port..<path].dropFirst().allSatisfy(\.isASCIIDigit)
                && rest[path...].allSatisfy { Self.isPlain($0) || $0 == UInt8(ascii: "/") }
                && (keepsSegments || Self.hasNoValue(Array(rest[path...])))
        } ?? false
    }

    private static func hasNoValue(_ path: [UInt8]) -> Bool {
        path.split(separator: UInt8(ascii: "/")).allSatisfy { SegmentRedaction.replacement(for: $0) == nil }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }

    /// Redacts the part of the URL before its query.
    private func location(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let scheme = text.prefix(Self.length(ofScheme: text))
        let rest = text[scheme.endIndex...]
        guard rest.starts(with: "//".utf8) else {
            // After the scheme of `data:`, `mailto:` and similar URLs, everything is a value.
            return scheme.isEmpty ? segments(text) : scheme + Self.placeholder
        }
        let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
        let host = authority[(authority.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? authority.startIndex)...]
        // If the port is not a number, the end of a password cannot be found.
        guard Self.isHost(host) else { return scheme + "//".utf8 + Self.placeholder }
        return scheme + "//".utf8 + (host.count < authority.count ? Self.user : []) + host
            + segments(text[authority.endIndex...])
    }

    /// Returns the length of the scheme with its colon; 0 for none (RFC 3986, section 3.1).
    private static func length(ofScheme text: ArraySlice<UInt8>) -> Int {
        let scheme = text.prefix { $0.isASCIIAlphanumeric || "+-.".utf8.contains($0) }
        return !scheme.isEmpty && text[scheme.endIndex...].first == UInt8(ascii: ":") ? scheme.count + 1 : 0
    }

    /// Returns whether the text is a name or an address, with or without a port. A longer text may be a user or a
    /// password that was truncated before the host.
    static func isHost(_ host: ArraySlice<UInt8>) -> Bool {
        guard host.count <= longestHost else { return false }
        let name =
            host.first == UInt8(ascii: "[")
            ? host.prefix { $0 != UInt8(ascii: "]") } : host.prefix { $0 != UInt8(ascii: ":") }
        let port = host[name.endIndex...].drop { $0 == UInt8(ascii: "]") }
        return port.isEmpty || port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy(\.isASCIIDigit)
    }

    /// The length of a name of 253 characters (RFC 1035, section 2.3.4, as text), a colon and a port.
    private static let longestHost = 253 + 1 + 5

    private func segments(_ path: ArraySlice<UInt8>) -> [UInt8] {
        Array(
            path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(segment)
                .joined(separator: "/".utf8))
    }

    /// Redacts a segment. It may contain values after semicolons, as in `cart;jsessionid=1`, and a URL with a user and
    /// a password.
    private func segment(_ segment: ArraySlice<UInt8>) -> [UInt8] {
        let name = segment.prefix { $0 != UInt8(ascii: ";") }
        let parameters = segment[name.endIndex...].split(separator: UInt8(ascii: ";"))
            .flatMap { ";".utf8 + Self.pair($0) }
        if !keepsSegments { return (SegmentRedaction.replacement(for: name) ?? Array(name)) + parameters }
        guard let at = name.lastIndex(of: UInt8(ascii: "@")), name[..<at].contains(UInt8(ascii: ":")) else {
            return name + parameters
        }
        return Self.user + name[(at + 1)...] + parameters
    }

    /// Redacts a query, which begins with `?`.
    static func query(_ query: ArraySlice<UInt8>) -> [UInt8] {
        guard !query.isEmpty else { return [] }
        let pairs = query.dropFirst().split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return "?".utf8 + Array(pairs.map(pair).joined(separator: "&".utf8))
    }

    /// Redacts a query or path parameter. Its name stays. A name without a value counts as a value, and so does a name
    /// that does not look like one.
    private static func pair(_ pair: ArraySlice<UInt8>) -> [UInt8] {
        guard !pair.isEmpty else { return [] }
        let name = pair.prefix { $0 != UInt8(ascii: "=") }
        guard name.count < pair.count, isName(name) else { return placeholder }
        return name + "=".utf8 + (name.count + 1 < pair.count ? placeholder : [])
    }

    private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
        guard (1...MartletLimits.parameterName).contains(name.count),
            name.allSatisfy({ $0.isASCIIAlphanumeric || "-_.[]$:".utf8.contains($0) })
        else { return false }
        return name.split(whereSeparator: { "[]$:".utf8.contains($0) }).allSatisfy { SegmentShape(of: $0) == .name }
    }
}

/// Redacts the values among a path's segments: bot tokens, mail addresses, keys, coordinates. Names stay. Plain numbers
/// and UUIDs stay too, because people look up a request by the number of an order. A number that may be a payment
/// card's is removed.
enum SegmentRedaction {
    /// Returns the text that replaces a value; `nil` for a segment that stays.
    static func replacement(for segment: ArraySlice<UInt8>) -> [UInt8]? {
        guard case .value(let suffix) = SegmentShape(of: segment) else { return nil }
        let value = segment.dropLast(suffix.count)
        return isNumber(value) || isUUID(value) ? nil : Redaction.placeholderBytes + suffix
    }

    /// Returns whether a value is a number of at most 20 digits (64 bits), and not a payment card's.
    private static func isNumber(_ value: ArraySlice<UInt8>) -> Bool {
        value.count <= 20 && value.allSatisfy(\.isASCIIDigit) && !isCardNumber(value)
    }

    /// Returns whether the digits may be a payment card's: 14 to 16 digits in the cards' ranges with the right check digit
    /// (ISO/IEC 7812-1, annex B).
    private static func isCardNumber(_ digits: ArraySlice<UInt8>) -> Bool {
        guard (14...16).contains(digits.count), let first = digits.first, "3456".utf8.contains(first) else {
            return false
        }
        let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
            let weighted = Int(digit.element - UInt8(ascii: "0")) * (digit.offset.isMultiple(of: 2) ? 1 : 2)
            return sum + (weighted > 9 ? weighted - 9 : weighted)
        }
        return sum.isMultiple(of: 10)
    }

    /// Returns whether a value is a UUID (RFC 9562, section 4): groups of 8, 4, 4, 4 and 12 hexadecimal digits.
    private static func isUUID(_ value: ArraySlice<UInt8>) -> Bool {
        let groups = value.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.joined().allSatisfy { $0.hexadecimalValue != nil }
    }
}
