/// Identifies a trace: 16 bytes, not all zero (W3C Trace Context, section 3.2.2.3).
package struct TraceID: Sendable, Hashable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    /// `nil` if all bits are zero, which is not a valid id.
    package init?(high: UInt64, low: UInt64) {
        guard high | low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    /// `nil` unless there are 16 bytes, not all zero.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(high: UInt64(bigEndian: bytes.prefix(8)), low: UInt64(bigEndian: bytes.dropFirst(8)))
    }

    /// `nil` unless there are 32 lower-case hexadecimal digits in ASCII, not all zero.
    package init?(hexDigits: some Collection<UInt8>) {
        guard hexDigits.count == 32, let high = UInt64(hexDigits: hexDigits.prefix(16)),
            let low = UInt64(hexDigits: hexDigits.dropFirst(16))
        else { return nil }
        self.init(high: high, low: low)
    }

    package var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }

    /// 32 lower-case hexadecimal digits.
    package var description: String { high.sixteenHexDigits + low.sixteenHexDigits }
}

/// Identifies a span within its trace: 8 bytes, not all zero (W3C Trace Context, section 3.2.2.4).
package struct SpanID: Sendable, Hashable, CustomStringConvertible {
    package let value: UInt64

    /// `nil` for zero, which is not a valid id.
    package init?(_ value: UInt64) {
        guard value != 0 else { return nil }
        self.value = value
    }

    /// `nil` unless there are 8 bytes, not all zero.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 8 else { return nil }
        self.init(UInt64(bigEndian: bytes))
    }

    /// `nil` unless there are 16 lower-case hexadecimal digits in ASCII, not all zero.
    package init?(hexDigits: some Collection<UInt8>) {
        guard hexDigits.count == 16, let value = UInt64(hexDigits: hexDigits) else { return nil }
        self.init(value)
    }

    package var bytes: [UInt8] { value.bigEndianBytes }

    /// 16 lower-case hexadecimal digits.
    package var description: String { value.sixteenHexDigits }
}

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
