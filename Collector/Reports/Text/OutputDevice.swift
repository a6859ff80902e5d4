/// The device that shows an output: a terminal, or a file or pipe.
package struct OutputDevice: Sendable, Equatable {
    /// The characters in a line of the terminal; `nil` for a file or a pipe, whose lines are never cut.
    package var columns: Int?
    package var isColored: Bool

    package init(columns: Int? = nil, isColored: Bool = false) {
        self.columns = columns
        self.isColored = isColored
    }

    package static let file = OutputDevice()

    package var isTerminal: Bool { columns != nil }

    func paint(_ text: String, _ tone: Tone?) -> String {
        guard isColored, let tone, !text.isEmpty else { return text }
        return "\u{1b}[\(tone.rawValue)m\(text)\u{1b}[0m"
    }
}

/// A colour or weight of text. It emphasises a word or a sign and never replaces it. The raw value is the parameter of its escape
/// sequence (ECMA-48, SGR).
enum Tone: Int, Sendable {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
}

/// Painted lines on a screen. Their escape sequences (ECMA-48, SGR) have no width.
extension OutputDevice {
    private static let reset = "\u{1b}[0m"

    /// Returns a painted line in reverse video.
    func selected(_ line: String) -> String {
        guard isColored else { return line }
        return "\u{1b}[7m" + line.replacing(Self.reset, with: "\u{1b}[0;7m") + Self.reset
    }

    /// Splits a painted line into lines that fit the terminal, at blanks where possible.
    func wrapped(_ line: String) -> [String] {
        guard let columns, columns > 0 else { return [line] }
        var (lines, width, wordWidth, isSequence) = ([""], 0, 0, false)
        for character in line {
            if character == "\u{1b}" { isSequence = true }
            let room = isSequence ? 0 : TextWidth.of(String(character))
            if width + room > columns {
                let full = lines.removeLast()
                let end = full.lastIndex(of: " ").map(full.index(after:)) ?? full.endIndex
                lines += [String(full[..<end]), String(full[end...])]
                width = end == full.endIndex ? 0 : wordWidth
                wordWidth = width
            }
            lines[lines.count - 1].append(character)
            width += room
            wordWidth = character == " " ? 0 : wordWidth + room
            if isSequence, character == "m" { isSequence = false }
        }
        return lines
    }
}

/// Makes text safe to print. Senders choose the names that are printed, so characters that control a terminal, reverse text or
/// are invisible are escaped.
package enum TerminalText {
    package static func plain(_ text: String) -> String {
        // Nearly all text is plain ASCII. Other text is checked character by character.
        if text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text }
        return text.unicodeScalars.reduce(into: "") { plain, scalar in
            if isPlain(scalar) {
                plain.unicodeScalars.append(scalar)
            } else {
                plain += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
    }

    package static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == " " { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .privateUse,
            .unassigned:
            return false
        // Fillers and variation selectors are invisible, whatever their category.
        default: return !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}

/// The width of text on a terminal.
package enum TextWidth {
    /// Returns the number of columns of a plain text.
    static func of(_ text: String) -> Int {
        // An ASCII character takes one column.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// Returns the text if it fits. Otherwise, returns as much of its beginning and its end as fits, with an ellipsis between
    /// them.
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

    /// Blocks of characters that take two columns (Unicode Standard Annex #11, wide and full width).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
        0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1faff, 0x20000...0x3fffd,
    ]
}
