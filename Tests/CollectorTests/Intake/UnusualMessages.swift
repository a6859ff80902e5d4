import Fixtures

@testable import MartletIntake

/// Rewrites messages into forms that no encoder writes, but that every decoder must either read or refuse: parts twice or in
/// pieces, in another order, unpacked lists, numbers longer than needed, groups, unknown fields, other wire types.
struct UnusualMessages {
    private struct Field {
        var number: Int
        var type: UInt8
        /// The bytes after the tag and the length.
        var payload: [UInt8]
    }

    private var random: SeededGenerator
    /// One field in this many is changed, on average.
    private let rarity: Int

    init(seed: UInt64, rarity: Int) {
        random = SeededGenerator(seed: seed)
        self.rarity = rarity
    }

    mutating func rewritten(_ message: [UInt8], as shape: MessageShape) -> [UInt8] {
        var fields = Self.fields(of: message)
        if isChosen() { fields.shuffle(using: &random) }
        var result: [UInt8] = []
        for var field in fields {
            if let child = shape.child(field.number), field.type == 2 {
                field.payload = rewritten(field.payload, as: child.shape)
            }
            result += isChosen() ? unusual(field) : written(field)
        }
        return result
    }

    private mutating func isChosen() -> Bool { Int.random(in: 0..<rarity, using: &random) == 0 }

    private mutating func unusual(_ field: Field) -> [UInt8] {
        let plain = written(field)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return plain + plain
        case 1: return plain + [0xc2, 0x3e, 2, 8, 1]
        case 2: return [0x93, 0x03, 0x08, 0x01, 0x94, 0x03] + plain
        case 3: return Self.varint(field.number << 3 | 0) + [1]
        case 4: return Self.varint(field.number << 3 | 5) + [1, 2, 3, 4]
        case 5: return inPieces(field)
        case 6 where field.type == 2:
            return Self.varint(field.number << 3 | 2) + Self.longer(Self.varint(field.payload.count)) + field.payload
        case 6 where field.type == 0: return Self.varint(field.number << 3) + Self.longer(field.payload)
        default: return Self.longer(Self.varint(field.number << 3 | Int(field.type))) + plain.dropFirst()
        }
    }

    /// Returns a field in pieces: a packed list as single numbers, other bytes as two fields. A packed list may look like a
    /// message.
    private mutating func inPieces(_ field: Field) -> [UInt8] {
        guard field.type == 2, !field.payload.isEmpty else { return written(field) }
        if field.payload.count.isMultiple(of: 8), Bool.random(using: &random) {
            return stride(from: 0, to: field.payload.count, by: 8).flatMap {
                written(Field(number: field.number, type: 1, payload: Array(field.payload[$0..<$0 + 8])))
            }
        }
        if field.payload.allSatisfy({ $0 < 0x80 }), Bool.random(using: &random) {
            return field.payload.flatMap { written(Field(number: field.number, type: 0, payload: [$0])) }
        }
        let cut = Int.random(in: 0...field.payload.count, using: &random)
        return [field.payload[..<cut], field.payload[cut...]].flatMap {
            written(Field(number: field.number, type: 2, payload: Array($0)))
        }
    }

    private func written(_ field: Field) -> [UInt8] {
        let length = field.type == 2 ? Self.varint(field.payload.count) : []
        return Self.varint(field.number << 3 | Int(field.type)) + length + field.payload
    }

    private static func varint(_ value: Int) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7f) | 0x80] + varint(value >> 7)
    }

    /// Returns the same number in one more byte.
    private static func longer(_ varint: [UInt8]) -> [UInt8] {
        varint.dropLast() + [(varint.last ?? 0) | 0x80, 0]
    }

    /// Returns the fields of a message in the usual encoding.
    private static func fields(of message: [UInt8]) -> [Field] {
        var fields: [Field] = []
        var position = 0
        func take(_ count: Int) -> [UInt8] {
            defer { position += count }
            return Array(message[position..<position + count])
        }
        func takeVarint() -> [UInt8] {
            take((message[position...].firstIndex { $0 < 0x80 } ?? position) - position + 1)
        }
        func number(_ varint: [UInt8]) -> Int { varint.reversed().reduce(0) { $0 << 7 | Int($1 & 0x7f) } }
        while position < message.count {
            let tag = number(takeVarint())
            let payload =
                switch tag & 7 {
                case 0: takeVarint()
                case 1: take(8)
                case 2: take(number(takeVarint()))
                default: take(4)
                }
            fields.append(Field(number: tag >> 3, type: UInt8(tag & 7), payload: payload))
        }
        return fields
    }
}
