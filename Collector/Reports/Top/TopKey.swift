/// A key that a person pressed.
package enum TopKey: Sendable, Equatable {
    case up
    case down
    case enter
    case escape
    case backspace
    /// Ctrl-C, which a terminal in raw mode sends as a byte.
    case interrupt
    case character(Character)

    private static let escapeByte: UInt8 = 0x1b

    /// Returns the keys of bytes that a terminal sent at once. Keys without a meaning here are left out.
    package static func keys(in bytes: [UInt8]) -> [TopKey] {
        var (keys, rest) = ([TopKey](), bytes[...])
        while let first = rest.first {
            if first == escapeByte {
                if let key = escaped(&rest) { keys.append(key) }
            } else if first < 0x20 || first == 0x7f {
                rest.removeFirst()
                if let key = control(first) { keys.append(key) }
            } else {
                let text = rest.prefix { $0 >= 0x20 && $0 != 0x7f }
                rest = rest[text.endIndex...]
                keys += String(decoding: text, as: UTF8.self).map { .character($0) }
            }
        }
        return keys
    }

    private static func control(_ byte: UInt8) -> TopKey? {
        switch byte {
        case 0x03: .interrupt
        case 0x08, 0x7f: .backspace
        case UInt8(ascii: "\r"), UInt8(ascii: "\n"): .enter
        default: nil
        }
    }

    /// Takes a sequence that begins with an escape: `ESC [ … final` or `ESC O final` (ECMA-48, control sequences).
    private static func escaped(_ bytes: inout ArraySlice<UInt8>) -> TopKey? {
        bytes.removeFirst()
        guard let second = bytes.first, second == UInt8(ascii: "[") || second == UInt8(ascii: "O") else {
            return .escape
        }
        bytes.removeFirst()
        let parameters = bytes.prefix { (0x20..<0x40).contains($0) }
        bytes = bytes[parameters.endIndex...]
        switch bytes.popFirst() {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        default: return nil
        }
    }
}
