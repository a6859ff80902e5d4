/// The room that text takes on a terminal.
package enum TextWidth {
    /// Returns the number of columns of a plain text.
    static func of(_ text: String) -> Int {
        // A byte of ASCII is a column.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// Returns the text, or as much of its beginning and its end as there is room for, with an ellipsis between them.
    package static func cut(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        guard width > 1 else { return width == 1 ? "…" : "" }
        let end = prefix(Substring(text).reversed(), width: (width - 1) / 2)
        let start = prefix(text, width: width - 1 - end.reduce(0) { $0 + of($1) })
        return String(start) + "…" + String(end.reversed())
    }

    private static func prefix(_ text: some Sequence<Character>, width: Int) -> [Character] {
        var (taken, room) = ([Character](), width)
        for character in text {
            room -= of(character)
            if room < 0 { break }
            taken.append(character)
        }
        return taken
    }

    private static func of(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// Blocks whose characters take two columns (Unicode Standard Annex #11, wide and full width).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
        0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1faff, 0x20000...0x3fffd,
    ]
}
