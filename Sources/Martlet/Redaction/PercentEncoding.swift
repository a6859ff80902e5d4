/// Percent-encoding as forms use it (URL standard, section 5, "application/x-www-form-urlencoded").
enum PercentEncoding {
    /// Decodes text. A `%` without two hexadecimal digits stands for itself.
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
