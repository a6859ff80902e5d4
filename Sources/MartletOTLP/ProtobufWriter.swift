/// Writes a protobuf message field by field (Protocol Buffers, "Encoding"), in the order of the calls. Fields of which the
/// value is the default are left out, as proto3 has it, but for those of a `oneof`, which the caller writes with `always`.
///
/// For what is encoded so often that SwiftProtobuf's objects, one for each message and each attribute, would cost more than
/// all else that is done with it: encoding a span took three times as long with them.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    private enum WireType {
        static let varint: UInt8 = 0
        static let fixed64: UInt8 = 1
        static let lengthDelimited: UInt8 = 2
    }

    /// - Parameter field: a number below 32, here and below.
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

    mutating func text(_ text: String, field: UInt8, always: Bool = false) {
        let count = text.utf8.count
        guard count > 0 || always else { return }
        key(field, WireType.lengthDelimited)
        varint(UInt64(count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Bytes that are the words one after the other, each with its highest byte first.
    mutating func bigEndian(_ words: UInt64..., field: UInt8) {
        key(field, WireType.lengthDelimited)
        varint(UInt64(words.count * 8))
        for word in words { append(littleEndian: word.byteSwapped, bytes: 8) }
    }

    /// A message within this one that is encoded already.
    mutating func message(_ encoded: [UInt8], field: UInt8) {
        key(field, WireType.lengthDelimited)
        varint(UInt64(encoded.count))
        bytes += encoded
    }

    /// A message within this one, also where it has no field.
    mutating func message(field: UInt8, _ write: (inout ProtobufWriter) throws -> Void) rethrows {
        key(field, WireType.lengthDelimited)
        let start = bytes.count
        // Most are short enough for a length of one byte; of others the rest of it is put in between.
        bytes.append(0)
        try write(&self)
        let count = bytes.count - start - 1
        guard count > 0x7f else { return bytes[start] = UInt8(count) }
        var length = ProtobufWriter()
        length.varint(UInt64(count))
        bytes.replaceSubrange(start...start, with: length.bytes)
    }

    private mutating func key(_ field: UInt8, _ type: UInt8) {
        // Numbers from 16 on take two bytes.
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
