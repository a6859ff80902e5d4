import MartletOTLP

/// The attributes of a point as bytes of a body: `KeyValue` messages, each after its length in four bytes. The field
/// number, which differs between kinds of points, is left out. Any other message fits too, for comparison alone.
struct AttributeBytes: Equatable {
    private var bytes: [UInt8] = []

    var count: Int { bytes.count }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds the attribute at `range` of the body.
    mutating func append(_ range: Range<Int>, of body: [UInt8]) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: range.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: body[range])
    }

    /// A copy that takes no more memory than its bytes.
    var compact: AttributeBytes {
        var copy = AttributeBytes()
        copy.bytes.reserveCapacity(count)
        copy.bytes.append(contentsOf: bytes)
        return copy
    }

    /// Compares words of eight bytes, because an array compares byte by byte.
    static func == (one: AttributeBytes, other: AttributeBytes) -> Bool {
        guard one.count == other.count else { return false }
        return one.bytes.withUnsafeBytes { one in
            other.bytes.withUnsafeBytes { other in
                let words = one.count / 8 * 8
                var difference: UInt64 = 0
                for offset in stride(from: 0, to: words, by: 8) {
                    difference |=
                        one.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                        ^ other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                }
                return difference == 0 && one[words...].elementsEqual(other[words...])
            }
        }
    }

    /// Returns a hash that is different in another process.
    func hash(_ salt: UInt64) -> UInt64 {
        var state = Self.seed &+ salt &+ UInt64(bytes.count)
        bytes.withUnsafeBytes { bytes in
            let words = bytes.count / 8 * 8
            for offset in stride(from: 0, to: words, by: 8) {
                state = Self.mixed(state, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            for byte in bytes[words...] { state = Self.mixed(state, UInt64(byte)) }
        }
        return state
    }

    /// Returns the attributes.
    ///
    /// - Throws: if the bytes are not attributes.
    func decoded() throws(ProtobufReader.UncommonForm) -> [OTLPKeyValue] {
        let reader = ProtobufReader(bytes)
        var attributes: [OTLPKeyValue] = []
        var start = 0
        while start < bytes.count {
            let length = bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
            attributes.append(try reader.message(in: start + 4..<start + 4 + length, depth: .attribute))
            start += 4 + length
        }
        return attributes
    }

    private static let seed = UInt64.random(in: 0 ... .max)

    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word) &* 0xbf58_476d_1ce4_e5b9
        return product ^ (product >> 32)
    }
}
