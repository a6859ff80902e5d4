extension UInt64 {
    /// Reads 8 bytes, the highest first.
    init(bigEndian bytes: some Collection<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// 8 bytes, the highest first.
    var bigEndianBytes: [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: self >> UInt64($0 * 8)) }
    }

    /// 16 lower-case hexadecimal digits.
    var sixteenHexDigits: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// `nil` if a byte is not a lower-case hexadecimal digit. The caller passes at most 16 digits.
    package init?(hexDigits: some Collection<UInt8>) {
        self = 0
        for digit in hexDigits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): self = self << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): self = self << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
    }
}
