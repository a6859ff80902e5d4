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
