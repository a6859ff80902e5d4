/// Reads what ``ByteWriter`` wrote. Every read is `nil` at the end of the bytes or on nonsense, and never traps.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? {
        rest.popFirst()
    }

    mutating func double() -> Double? {
        guard rest.count >= 8 else { return nil }
        let bits = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest.removeFirst(8)
        return Double(bitPattern: bits)
    }

    mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    mutating func zigzag() -> Int32? {
        guard let value = varint().flatMap(UInt32.init(exactly:)) else { return nil }
        return Int32(bitPattern: value >> 1) ^ -Int32(bitPattern: value & 1)
    }
}
