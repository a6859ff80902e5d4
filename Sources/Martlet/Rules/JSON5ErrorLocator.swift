/// Finds the place at which a text stops being JSON5 (JSON5 Data Interchange Format 1.0.0). Foundation on Linux does
/// not report it.
///
/// Use it for a text that Foundation has refused. Within names, numbers and strings it accepts more than JSON5 does.
struct JSON5ErrorLocator {
    private let text: [UInt8]
    private var next = 0

    /// Returns a sentence with line and column, both from 1, in bytes.
    static func sentence(about text: some Sequence<UInt8>) -> String {
        var search = JSON5ErrorLocator(text: Array(text))
        let expected = search.value(depth: 0) ?? (search.skipBlanks() == nil ? nil : "the end")
        let read = search.text[..<min(search.next, search.text.count)]
        let line = read.count { $0 == UInt8(ascii: "\n") } + 1
        let column = read.count - (read.lastIndex(of: UInt8(ascii: "\n")) ?? -1)
        return "not JSON5 at line \(line), column \(column)" + (expected.map { ": expected \($0)" } ?? "")
    }

    private init(text: [UInt8]) {
        self.text = text
    }

    private static let deepest = 64

    /// Skips a value. Returns what it expected instead; `nil` if there was a value.
    private mutating func value(depth: Int) -> String? {
        switch skipBlanks() {
        case nil: return "a value"
        case _ where depth > Self.deepest: return "fewer levels"
        case UInt8(ascii: "{"):
            return members(until: "}") { text in text.name() ?? text.take(":") ?? text.value(depth: depth + 1) }
        case UInt8(ascii: "["): return members(until: "]") { text in text.value(depth: depth + 1) }
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return string()
        default: return word() ? nil : "a value"
        }
    }

    private mutating func members(
        until end: Character, _ member: (inout JSON5ErrorLocator) -> String?
    ) -> String? {
        next += 1
        while true {
            if take(end) == nil { return nil }
            if let expected = member(&self) { return expected }
            if take(",") != nil { return take(end).map { "\",\" or \($0)" } }
        }
    }

    private mutating func name() -> String? {
        switch skipBlanks() {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): string()
        default: word() ? nil : "a name"
        }
    }

    private mutating func string() -> String? {
        let quote = text[next]
        next += 1
        while next < text.count, text[next] != quote {
            if text[next] == UInt8(ascii: "\n") { return "the end of the text before the end of the line" }
            next += text[next] == UInt8(ascii: "\\") ? 2 : 1
        }
        next += 1
        return next > text.count ? "the end of the text" : nil
    }

    /// Skips a number, a literal or a bare name. Returns whether there was one.
    private mutating func word() -> Bool {
        let start = next
        while next < text.count, Self.isWord(text[next]) { next += 1 }
        return next > start
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...,
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "+-._$\\".utf8.contains(byte)
        }
    }

    /// Skips a character. If another one is there, returns the expected one in quotes.
    private mutating func take(_ character: Character) -> String? {
        guard skipBlanks() == character.asciiValue else { return "\"\(character)\"" }
        next += 1
        return nil
    }

    /// Skips white space and comments. Returns the byte after them; `nil` at the end.
    private mutating func skipBlanks() -> UInt8? {
        while next < text.count {
            let rest = text[next...]
            if rest.starts(with: "//".utf8) {
                next = rest.firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            } else if rest.starts(with: "/*".utf8) {
                next += 2
                while next < text.count, !text[next...].starts(with: "*/".utf8) { next += 1 }
                next = min(next + 2, text.count)
            } else if rest.starts(with: [0xc2, 0xa0]) {
                next += 2
            } else if text[next] == 0x20 || (0x09...0x0d).contains(text[next]) {
                next += 1
            } else {
                return text[next]
            }
        }
        return nil
    }
}
