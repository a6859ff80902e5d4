extension TextRedaction {
    /// The position of a name's value.
    struct Value {
        /// The end of a value without quotes, by the text between name and value.
        enum End {
            /// `"name": value`: the value is a number or a word of JSON.
            case scalar
            /// `name=value`: the value ends at the next blank.
            case word
            /// `name: value`: the value ends at the line's end.
            case line
        }

        var start: Int
        var end: End
    }

    /// Returns the value of the name that ends before `end`; `nil` when none follows.
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

    /// Copies the text up to the value and takes out the value, with everything nested in it.
    mutating func replaceValue(_ value: Value) {
        copy(to: value.start)
        let opener = end(from: position) { $0 != UInt8(ascii: "\\") }
        guard opener < text.count else { return replace(to: opener) }
        switch text[opener] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            let quote = Array(text[position...opener])
            let end = indexOfClosingQuote(text[opener], from: opener + 1, escapedBy: opener - position).map { $0 + 1 }
            replace(to: end ?? text.count, with: quote + Redaction.placeholderBytes + quote)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            replace(to: endOfNesting(from: opener), with: quoted(for: value.end))
        default:
            replace(to: endOfBare(value), with: quoted(for: value.end))
        }
        // The meaning of the quotes in `name: "a" b` is unknown, so the whole line goes.
        if value.end == .line { position = endOfLine }
    }

    /// Returns the index of the closing quote; `nil` when there is none.
    ///
    /// - Parameter depth: the number of backslashes before the opening quote.
    func indexOfClosingQuote(_ quote: UInt8, from start: Int, escapedBy depth: Int = 0) -> Int? {
        var backslashes = 0
        for index in start..<text.count {
            let byte = text[index]
            // Two backslashes in a literal without outer escapes are one backslash, which escapes nothing.
            if byte == quote, depth == 0 ? backslashes.isMultiple(of: 2) : backslashes <= depth { return index }
            backslashes = byte == UInt8(ascii: "\\") ? backslashes + 1 : 0
        }
        return nil
    }

    /// Returns the index behind the closing bracket, or the text's end.
    private func endOfNesting(from start: Int) -> Int {
        var (index, depth) = (start, 0)
        while index < text.count {
            let byte = text[index]
            index += 1
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                index = indexOfClosingQuote(byte, from: index).map { $0 + 1 } ?? text.count
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

    /// The end of a number or of a word of JSON, and the line's end for any other value.
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
