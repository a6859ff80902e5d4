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

    /// Begins anew in the same memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }
}
