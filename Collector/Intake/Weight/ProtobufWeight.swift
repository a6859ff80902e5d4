/// The memory that a protobuf body takes once it is decoded, found on the wire before any message is built: two bytes can
/// stand for a message of a hundred (Protocol Buffers, "Encoding").
struct ProtobufWeight {
    /// The factor for the spare capacity of a growing array.
    private static let spare = 2
    /// Bytes of a number in a packed list, which takes a byte or more on the wire.
    private static let numberBytes = MemoryLayout<UInt64>.stride * spare
    /// The maximum depth of messages, as in SwiftProtobuf's decoder.
    private static let maxDepth = 100

    private let bytes: [UInt8]
    private let limit: Int
    private var position = 0
    private var total: Int

    private init(_ bytes: [UInt8], limit: Int) {
        self.bytes = bytes
        self.limit = limit
        // A text takes no more memory than it has bytes in the body.
        total = bytes.count
    }

    /// Returns the weight of the body in bytes.
    ///
    /// - Throws: if the body weighs more than `limit`, or is not a protobuf message.
    static func of(_ bytes: [UInt8], as shape: MessageShape, limit: Int) throws(IntakeRejection) -> Int {
        var weight = ProtobufWeight(bytes, limit: limit)
        try weight.add(shape, to: bytes.count, depth: 0)
        return weight.total
    }

    private mutating func add(_ shape: MessageShape, to end: Int, depth: Int) throws(IntakeRejection) {
        guard depth < Self.maxDepth else { throw .malformed("the body's messages are nested too deeply") }
        var hasChoice = false
        while position < end {
            let tag = try varint()
            switch tag & 7 {
            case 0:
                _ = try varint()
                if shape == .buckets { try add(Self.numberBytes) }
            case 1: try skip(8)
            case 2: try addField(tag >> 3, of: shape, &hasChoice, depth: depth)
            case 3, 4: break
            case 5: try skip(4)
            default: throw .notProtobuf
            }
        }
        guard position == end else { throw .notProtobuf }
    }

    private mutating func addField(
        _ number: UInt64, of shape: MessageShape, _ hasChoice: inout Bool, depth: Int
    ) throws(IntakeRejection) {
        let length = Int(clamping: try varint())
        guard length <= bytes.count - position else { throw .notProtobuf }
        guard let child = shape.child(Int(clamping: number)) else {
            if shape == .buckets { try add(length * Self.numberBytes) }
            return position += length
        }
        // The decoder would copy the value so far for each repetition, which takes the square of their number.
        guard child.role != .choice || !hasChoice else { throw .malformed("a value is given more than once") }
        hasChoice = hasChoice || child.role == .choice
        if child.role == .element { try add(child.shape.bytes * Self.spare) }
        try add(child.shape, to: position + length, depth: depth + 1)
    }

    private mutating func add(_ weight: Int) throws(IntakeRejection) {
        total += weight
        guard total <= limit else { throw .tooManyMessages(limit: limit) }
    }

    private mutating func skip(_ count: Int) throws(IntakeRejection) {
        guard count <= bytes.count - position else { throw .notProtobuf }
        position += count
    }

    /// Most numbers take one byte.
    @inline(__always) private mutating func varint() throws(IntakeRejection) -> UInt64 {
        guard position < bytes.count, bytes[position] < 0x80 else { return try longVarint() }
        position += 1
        return UInt64(bytes[position - 1])
    }

    private mutating func longVarint() throws(IntakeRejection) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard position < bytes.count else { break }
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        throw .notProtobuf
    }
}
