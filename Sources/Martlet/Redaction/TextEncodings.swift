/// The escapes of a string literal (RFC 8259, section 7), and JavaScript's `\x41`.
enum JSONString {
    /// Decodes a literal. A truncated escape is left out, and an unknown escape becomes its last character.
    ///
    /// - Parameter literal: the literal without its quotes.
    static func decode(_ literal: ArraySlice<UInt8>) -> [UInt8] {
        guard literal.contains(UInt8(ascii: "\\")) else { return Array(literal) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(literal.count)
        var rest = literal
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\") {
                decoded += escape(&rest)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }

    /// Encodes text as a literal without quotes.
    static func encode(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
            case 0x0a: Array("\\n".utf8)
            case ..<0x20: "\\u00".utf8 + [.hexadecimalDigit(of: byte >> 4), .hexadecimalDigit(of: byte)]
            default: [byte]
            }
        }
    }

    /// Takes an escape from `rest`, which begins after the backslash, and returns the escaped bytes.
    private static func escape(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        guard let kind = rest.popFirst() else { return [] }
        switch kind {
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0c]
        case UInt8(ascii: "n"): return [0x0a]
        case UInt8(ascii: "r"): return [0x0d]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "x"): return number(digits: 2, &rest).map { utf8([UInt16($0)]) } ?? [kind]
        case UInt8(ascii: "u"): return unicode(&rest)
        default: return [kind]
        }
    }

    private static func unicode(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        guard let first = number(digits: 4, &rest) else {
            // The escape is truncated, and its remaining digits are meaningless.
            if rest.count < 4 { rest = [] }
            return []
        }
        guard UTF16.isLeadSurrogate(first), rest.starts(with: "\\u".utf8) else { return utf8([first]) }
        var behind = rest.dropFirst(2)
        guard let second = number(digits: 4, &behind), UTF16.isTrailSurrogate(second) else { return utf8([first]) }
        rest = behind
        return utf8([first, second])
    }

    private static func number(digits: Int, _ rest: inout ArraySlice<UInt8>) -> UInt16? {
        let values = rest.prefix(digits).compactMap(\.hexadecimalValue)
        guard values.count == digits else { return nil }
        rest.removeFirst(digits)
        return values.reduce(0) { $0 << 4 | UInt16($1) }
    }

    /// Returns the UTF-8 of UTF-16. An unpaired surrogate becomes U+FFFD.
    private static func utf8(_ units: [UInt16]) -> [UInt8] {
        Array(String(decoding: units, as: UTF16.self).utf8)
    }
}

/// Percent-encoding as forms use it (URL standard, section 5, "application/x-www-form-urlencoded").
enum PercentEncoding {
    /// Decodes text. A `%` without two hexadecimal digits is kept.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first?.hexadecimalValue,
                let low = rest.dropFirst().first?.hexadecimalValue
            {
                decoded.append(high << 4 | low)
                rest.removeFirst(2)
            } else {
                decoded.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return decoded
    }

    static func encode(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            if byte.isASCIIAlphanumeric || "-._*".utf8.contains(byte) { return [byte] }
            return [UInt8(ascii: "%"), .hexadecimalDigit(of: byte >> 4), .hexadecimalDigit(of: byte)]
        }
    }
}
