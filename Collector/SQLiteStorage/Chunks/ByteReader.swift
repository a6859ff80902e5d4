/// Reads the bytes that ``ByteWriter`` wrote. Every read returns `nil` at the end or if the bytes are invalid, and never traps.
struct ByteReader {
    let bytes: [UInt8]
    private(set) var position = 0
    private var end: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        end = bytes.count
    }

    // Inlined, like the varint: a month's report calls it hundreds of millions of times.
    @inline(__always) var isAtEnd: Bool { position >= end }

    var bytesLeft: Int { max(0, end - position) }

    @inline(__always) mutating func byte() -> UInt8? {
        guard position < end else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func double() -> Double? {
        guard end - position >= 8 else { return nil }
        let start = position
        position += 8
        // One load for all 8 bytes: a month's report reads tens of millions of doubles.
        let bits = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: UInt64.self) }
        return Double(bitPattern: UInt64(littleEndian: bits))
    }

    @inline(__always) mutating func varint() -> UInt64? {
        guard position < end else { return nil }
        let first = bytes[position]
        position += 1
        return first < 0x80 ? UInt64(first) : longVarint(from: first)
    }

    /// Reads the rest of a varint of several bytes. `first` is the byte already read.
    mutating func longVarint(from first: UInt8) -> UInt64? {
        var value = UInt64(first & 0x7f)
        for shift in stride(from: UInt64(7), through: 63, by: 7) {
            guard position < end else { return nil }
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    mutating func zigzag() -> Int32? {
        guard let value = varint().flatMap(UInt32.init(exactly:)) else { return nil }
        return Int32(bitPattern: value >> 1) ^ -Int32(bitPattern: value & 1)
    }

    /// Skips the next `count` bytes and returns their range.
    mutating func range(of count: UInt64) -> Range<Int>? {
        guard count <= UInt64(end - position) else { return nil }
        defer { position += Int(count) }
        return position..<position + Int(count)
    }

    /// Moves to a range of the bytes and limits all reads to it.
    mutating func enter(_ range: Range<Int>) {
        (position, end) = (min(range.lowerBound, bytes.count), min(range.upperBound, bytes.count))
    }
}

/// Appends numbers to bytes: doubles as 8 bytes little-endian, integers as varints of 7 bits a byte, low bits first.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    mutating func append(contentsOf more: some Collection<UInt8>) {
        bytes.append(contentsOf: more)
    }

    mutating func append(bitsOf value: Double) {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func append(zigzag value: Int32) {
        append(varint: UInt64(UInt32(bitPattern: (value << 1) ^ (value >> 31))))
    }

    /// Empties the bytes but keeps their memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }
}
