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
