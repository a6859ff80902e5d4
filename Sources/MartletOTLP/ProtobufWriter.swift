import MartletTelemetry

/// Writes a protobuf message field by field (Protocol Buffers, "Encoding"), in the order of the calls. A field with the
/// default value is left out, as in proto3. For a field of a `oneof` the caller passes `always`.
///
/// Messages that are encoded very often use this writer: SwiftProtobuf makes an object for each message and each
/// attribute, and took three times as long to encode a span.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    private enum WireType {
        static let varint: UInt8 = 0
        static let fixed64: UInt8 = 1
        static let lengthDelimited: UInt8 = 2
        static let fixed32: UInt8 = 5
    }

    /// - Parameter field: the field's number, here and below.
    mutating func varint(_ value: UInt64, field: UInt8, always: Bool = false) {
        guard value != 0 || always else { return }
        key(field, WireType.varint)
        varint(value)
    }

    mutating func fixed64(_ value: UInt64, field: UInt8, always: Bool = false) {
        guard value != 0 || always else { return }
        key(field, WireType.fixed64)
        append(littleEndian: value, bytes: 8)
    }

    mutating func fixed32(_ value: UInt32, field: UInt8) {
        guard value != 0 else { return }
        key(field, WireType.fixed32)
        append(littleEndian: UInt64(value), bytes: 4)
    }

    mutating func text(_ text: String, field: UInt8, always: Bool = false) {
        let count = text.utf8.count
        guard count > 0 || always else { return }
        key(field, WireType.lengthDelimited)
        varint(UInt64(count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes a field of bytes: the words in sequence, each with its highest byte first.
    mutating func bigEndian(_ words: UInt64..., field: UInt8) {
        key(field, WireType.lengthDelimited)
        varint(UInt64(words.count * 8))
        for word in words { append(littleEndian: word.byteSwapped, bytes: 8) }
    }

    /// Writes a nested message that is already encoded.
    mutating func message(_ encoded: [UInt8], field: UInt8) {
        key(field, WireType.lengthDelimited)
        varint(UInt64(encoded.count))
        bytes += encoded
    }

    /// Writes a nested message, even if it has no fields.
    mutating func message(field: UInt8, _ write: (inout ProtobufWriter) throws -> Void) rethrows {
        key(field, WireType.lengthDelimited)
        let start = bytes.count
        // Most messages are short enough for a length of one byte. For a longer message the length is replaced below.
        bytes.append(0)
        try write(&self)
        let count = bytes.count - start - 1
        guard count > 0x7f else { return bytes[start] = UInt8(count) }
        var length = ProtobufWriter()
        length.varint(UInt64(count))
        bytes.replaceSubrange(start...start, with: length.bytes)
    }

    private mutating func key(_ field: UInt8, _ type: UInt8) {
        // Field numbers from 16 take two bytes.
        varint(UInt64(field) << 3 | UInt64(type))
    }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private mutating func append(littleEndian value: UInt64, bytes count: Int) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8))) }
    }
}

extension ProtobufWriter {
    /// Writes each attribute as a KeyValue, sorted by name, so that equal spans have equal bytes.
    mutating func attributes(_ attributes: [String: SpanAttribute], field: UInt8) {
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) { attribute(name, value, field: field) }
    }

    /// Writes the attributes that metrics and spans have in common.
    mutating func attributes(_ dimensions: RequestDimensions, field: UInt8) {
        for (name, value) in dimensions.attributes { attribute(name, value, field: field) }
    }

    mutating func attribute(_ name: String, _ value: SpanAttribute, field: UInt8) {
        message(field: field) { pair in
            pair.text(name, field: 1)
            pair.message(field: 2) { $0.value(value) }
        }
    }

    /// Writes the value as the one field of an AnyValue. The field determines the kind of the value, so it is written
    /// even for a default value.
    private mutating func value(_ attribute: SpanAttribute) {
        switch attribute {
        case .string(let text): self.text(text, field: 1, always: true)
        case .boolean(let value): varint(value ? 1 : 0, field: 2, always: true)
        case .integer(let number): varint(UInt64(bitPattern: number), field: 3, always: true)
        case .double(let number): fixed64(number.bitPattern, field: 4, always: true)
        case .array(let elements):
            message(field: 5) { array in
                for element in elements { array.message(field: 1) { $0.value(element) } }
            }
        }
    }
}
