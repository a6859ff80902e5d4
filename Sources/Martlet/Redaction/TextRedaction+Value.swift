extension TextRedaction {
    /// Where the value of a name stands.
    struct Value {
        /// What is between name and value says where a value without quotes ends.
        enum End {
            /// `"name": value`: a number or a word of JSON.
            case scalar
            /// `name=value`: at the next blank.
            case word
            /// `name: value`: at the line's end.
            case line
        }

        var start: Int
        var end: End
    }

    /// The value of the name that ends before `end`; `nil` when none follows.
    ///
    /// - Parameter isLiteral: whether the name is a literal, its quotes included.
    func value(behind end: Int, isLiteral: Bool = false) -> Value? {
        let separator = self.end(from: end) {
            !$0.isASCIIWhitespace && (isLiteral || !"\"'`\\)".utf8.contains($0))
        }
        guard separator < text.count, ":=".utf8.contains(text[separator]) else { return nil }
        let start = self.end(from: separator) { !$0.isASCIIWhitespace && !":=>".utf8.contains($0) }
        let isQuoted = isLiteral || text[end..<separator].contains { "\"'".utf8.contains($0) }
        let isColon = text[separator..<start].contains(UInt8(ascii: ":"))
        return Value(start: start, end: isColon ? isQuoted ? .scalar : .line : .word)
    }

    /// Copies up to the value and takes the value out, with all that is nested in it.
    mutating func replaceValue(_ value: Value) {
        copy(to: value.start)
        let opener = end(from: position) { $0 != UInt8(ascii: "\\") }
        guard opener < text.count else { return replace(to: opener) }
        switch text[opener] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            let quote = Array(text[position...opener])
            let end = closer(of: text[opener], from: opener + 1, escapedBy: opener - position).map { $0 + 1 }
            replace(to: end ?? text.count, with: quote + Redaction.placeholderBytes + quote)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            replace(to: endOfNesting(from: opener), with: quoted(for: value.end))
        default:
            replace(to: endOfBare(value), with: quoted(for: value.end))
        }
        // `name: "a" b`: nobody knows what the quotes are for.
        if value.end == .line { position = endOfLine }
    }

    /// The quote that closes; `nil` when none does.
    ///
    /// - Parameter depth: so many backslashes stand before the quote that opened.
    func closer(of quote: UInt8, from start: Int, escapedBy depth: Int = 0) -> Int? {
        var backslashes = 0
        for index in start..<text.count {
            let byte = text[index]
            // In a literal of its own, two backslashes are one that escapes nothing.
            if byte == quote, depth == 0 ? backslashes.isMultiple(of: 2) : backslashes <= depth { return index }
            backslashes = byte == UInt8(ascii: "\\") ? backslashes + 1 : 0
        }
        return nil
    }

    /// Behind the bracket that closes, or the text's end.
    private func endOfNesting(from start: Int) -> Int {
        var (index, depth) = (start, 0)
        while index < text.count {
            let byte = text[index]
            index += 1
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                index = closer(of: byte, from: index).map { $0 + 1 } ?? text.count
            default: break
            }
            if depth == 0 { return index }
        }
        return index
    }

    private func endOfBare(_ value: Value) -> Int {
        switch value.end {
        case .scalar: endOfScalar
        case .word: end(from: position) { $0.isASCIIWhitespace || "\"'<>&".utf8.contains($0) }
        case .line: endOfLine
        }
    }

    /// What is no number and no word of JSON may go on to the line's end.
    private var endOfScalar: Int {
        let end = end(from: position) { !$0.isASCIIAlphanumeric && !"+-.".utf8.contains($0) }
        let scalar = text[position..<end]
        let isNumber = scalar.allSatisfy { $0.isASCIIDigit || "+-.eE".utf8.contains($0) }
        let isWord = ["true", "false", "null"].contains { scalar.elementsEqual($0.utf8) }
        let next = self.end(from: end) { !$0.isASCIIWhitespace }
        return (isNumber || isWord) && (next == text.count || ",]}".utf8.contains(text[next])) ? end : endOfLine
    }

    var endOfLine: Int {
        end(from: position) { $0 == 0x0a || $0 == 0x0d || $0 == UInt8(ascii: "<") }
    }

    private func quoted(for end: Value.End) -> [UInt8] {
        end == .scalar ? "\"".utf8 + Redaction.placeholderBytes + "\"".utf8 : Redaction.placeholderBytes
    }
}
