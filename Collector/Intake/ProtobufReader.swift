import MartletOTLP
import SwiftProtobuf

/// Reads the fields of a protobuf message directly from a body (Protocol Buffers, "Encoding"), without building a message. It
/// accepts only the form that every encoder writes. For any other form it throws ``UncommonForm``, and SwiftProtobuf decides
/// whether the bytes are a message (``Intake``).
struct ProtobufReader {
    /// The error for a message that is malformed or written in a rare form: groups, unpacked lists of numbers, a message in
    /// pieces.
    struct UncommonForm: Error {}

    struct Field {
        var number: Int
        var value: Value
    }

    enum Value {
        case varint(UInt64)
        case fixed64(UInt64)
        /// A wire type that no OTLP field has.
        case fixed32
        /// The range of a text, a message or a packed list.
        case bytes(Range<Int>)
    }

    let bytes: [UInt8]
    private(set) var position: Int
    private let end: Int

    /// - Parameter range: the range of the message; `nil` for all of the bytes.
    init(_ bytes: [UInt8], _ range: Range<Int>? = nil) {
        self.bytes = bytes
        let range = (range ?? 0..<bytes.count).clamped(to: 0..<bytes.count)
        (position, end) = (range.lowerBound, range.upperBound)
    }

    var isAtEnd: Bool { position >= end }

    /// Returns the next field; `nil` at the end of the message.
    @inline(__always) mutating func next() throws(UncommonForm) -> Field? {
        guard position < end else { return nil }
        let tag = try tag()
        let value: Value
        switch tag & 7 {
        case 0: value = .varint(try varint())
        case 1: value = .fixed64(try fixed64())
        case 2: value = .bytes(try range())
        case 5:
            try pass(4)
            value = .fixed32
        default: throw UncommonForm()
        }
        return Field(number: tag >> 3, value: value)
    }

    @inline(__always) mutating func varint() throws(UncommonForm) -> UInt64 {
        guard let value = bytes.varint(at: &position, before: end) else { throw UncommonForm() }
        return value
    }

    @inline(__always) mutating func fixed64() throws(UncommonForm) -> UInt64 {
        let start = position
        try pass(8)
        return bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: UInt64.self)) }
    }

    /// Returns a field's number, with its wire type in the three lowest bits. A tag of more than two bytes is unusual.
    @inline(__always) private mutating func tag() throws(UncommonForm) -> Int {
        let first = bytes[position]
        position += 1
        guard first >= 0x80 else {
            guard first >= 8 else { throw UncommonForm() }
            return Int(first)
        }
        guard position < end, bytes[position] < 0x80 else { throw UncommonForm() }
        let tag = Int(first & 0x7f) | Int(bytes[position]) << 7
        position += 1
        guard tag >= 8 else { throw UncommonForm() }
        return tag
    }

    @inline(__always) private mutating func range() throws(UncommonForm) -> Range<Int> {
        let count = Int(clamping: try varint())
        let start = position
        try pass(count)
        return start..<start + count
    }

    @inline(__always) private mutating func pass(_ count: Int) throws(UncommonForm) {
        guard count <= end - position else { throw UncommonForm() }
        position += count
    }
}

extension ProtobufReader {
    /// Returns the text at `range`.
    ///
    /// - Throws: if the bytes are not UTF-8.
    func text(in range: Range<Int>) throws(UncommonForm) -> String {
        guard let text = String(validating: bytes[range], as: UTF8.self) else { throw UncommonForm() }
        return text
    }

    /// Returns a packed list of `uint64`.
    func varints(in range: Range<Int>) throws(UncommonForm) -> [UInt64] {
        var reader = ProtobufReader(bytes, range)
        do {
            return try [UInt64](unsafeUninitializedCapacity: range.count) { numbers, count in
                while !reader.isAtEnd {
                    numbers[count] = try reader.varint()
                    count += 1
                }
            }
        } catch {
            throw UncommonForm()
        }
    }

    /// Returns a packed list of `fixed64`, or of the bits of `double`.
    func fixed64s(in range: Range<Int>) throws(UncommonForm) -> [UInt64] {
        var reader = ProtobufReader(bytes, range)
        var numbers: [UInt64] = []
        numbers.reserveCapacity(range.count / 8)
        while !reader.isAtEnd { numbers.append(try reader.fixed64()) }
        return numbers
    }
}

extension [UInt8] {
    /// Reads the varint at `position`, and moves `position` past it. Returns `nil` if it does not end before `end` or has more than
    /// ten bytes. Most have one.
    @inline(__always) func varint(at position: inout Int, before end: Int) -> UInt64? {
        guard position < end, self[position] < 0x80 else { return longVarint(at: &position, before: end) }
        position += 1
        return UInt64(self[position - 1])
    }

    private func longVarint(at position: inout Int, before end: Int) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard position < end else { break }
            let byte = self[position]
            position += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}

extension Int32 {
    /// Decodes an `sint32`. Only the low 32 bits count.
    init(zigzag varint: UInt64) {
        let bits = UInt32(truncatingIfNeeded: varint)
        self = Int32(bitPattern: bits >> 1) ^ -Int32(bitPattern: bits & 1)
    }
}

/// How deep a message is nested in an `ExportMetricsServiceRequest`.
enum MessageDepth: Int {
    case resource = 2
    /// A metric or a scope.
    case metric = 3
    /// An attribute of a point.
    case attribute = 6
}

extension ProtobufReader {
    /// Decodes the message at `range`, with the depth limit that it has within the body.
    ///
    /// - Throws: if the bytes are not a message of this type.
    func message<Part: Message>(in range: Range<Int>, depth: MessageDepth) throws(UncommonForm) -> Part {
        var options = BinaryDecodingOptions.otlp
        options.messageDepthLimit -= depth.rawValue
        guard let part = try? Part(serializedBytes: Array(bytes[range]), options: options) else { throw UncommonForm() }
        return part
    }
}

extension BinaryDecodingOptions {
    static let otlp: BinaryDecodingOptions = {
        var options = BinaryDecodingOptions()
        options.discardUnknownFields = true
        return options
    }()
}
