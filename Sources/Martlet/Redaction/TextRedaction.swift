import MartletTelemetry

/// Removes secrets from text of any kind in one pass: the values of sensitive names in JSON, in `name=value` and `name:
/// value`, in elements and their attributes; credentials of the schemes Bearer, Basic and Negotiate; JSON Web Tokens;
/// users, passwords, segments that are values, queries and fragments in URLs; PEM blocks.
///
/// It works on bytes, so that an unknown encoding and truncated text are not special cases: a value without an end
/// extends to the end of the text. It reads every byte a few times at most, and once more for each level of nested
/// strings.
struct TextRedaction {
    let names: SensitiveNames
    /// Whether to keep values among the segments of paths, `MARTLET_CAPTURE_PATHS`.
    let keepsSegments: Bool
    /// Whether a quote begins a literal. In other text, quotes may be unpaired.
    let isJSON: Bool
    /// Whether the text is the beginning of a longer one.
    let isCutOff: Bool
    /// The number of literals around the text.
    let depth: Int
    let text: [UInt8]
    private(set) var output: [UInt8] = []
    /// The index before which every byte has been copied to the output or removed.
    var position = 0
    private var previousWord = 0..<0
    /// The end of the path of the last URL, unless its segments are kept.
    private var endOfPath = 0
    /// The end of the last URL.
    private var endOfURL = 0
    /// The end of the last field of a connection string, or of the text that may be one.
    private var endOfFields = 0
    /// Whether another field follows there.
    private var isBeforeField = false

    static func redact(
        _ text: [UInt8], names: SensitiveNames, keepsSegments: Bool, isJSON: Bool = false, isCutOff: Bool = false,
        depth: Int = 0
    ) -> [UInt8] {
        let first = text.first { !$0.isASCIIWhitespace }
        let looksLikeJSON = first.map { "{[\"".utf8.contains($0) } ?? false
        var redaction = TextRedaction(
            names: names.ofText(text), keepsSegments: keepsSegments, isJSON: isJSON || looksLikeJSON,
            isCutOff: isCutOff,
            depth: depth, text: text)
        redaction.run()
        return redaction.output
    }

    private init(
        names: SensitiveNames, keepsSegments: Bool, isJSON: Bool, isCutOff: Bool, depth: Int, text: [UInt8]
    ) {
        self.names = names
        self.keepsSegments = keepsSegments
        self.isJSON = isJSON
        self.isCutOff = isCutOff
        self.depth = depth
        self.text = text
        output.reserveCapacity(text.count)
    }

    private mutating func run() {
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\"") where isJSON: literal()
            case UInt8(ascii: "<"): tag()
            case UInt8(ascii: ":") where endOfSlashes != nil: authority()
            case UInt8(ascii: "/") where position < endOfPath: segment()
            case UInt8(ascii: "?") where position < endOfURL || beginsQuery: query()
            case UInt8(ascii: "#") where position < endOfURL: fragment()
            case UInt8(ascii: "-") where text[position...].starts(with: "-----BEGIN".utf8): block()
            case let byte where byte.isNamePart: word()
            default: copy(to: position + 1)
            }
        }
    }

    // MARK: -

    mutating func copy(to end: Int) {
        output += text[position..<end]
        position = end
    }

    mutating func write(_ bytes: some Sequence<UInt8>) { output += bytes }

    /// Replaces the text from ``position`` to `end`, if there is any.
    mutating func replace(to end: Int, with replacement: [UInt8] = Redaction.placeholderBytes) {
        if end > position { output += replacement }
        position = end
    }

    /// Returns the first index from `start` on whose byte satisfies `isEnd`, or the text's end.
    func end(from start: Int, where isEnd: (UInt8) -> Bool) -> Int {
        text[start...].firstIndex(where: isEnd) ?? text.count
    }

    // MARK: -

    /// Handles a word: a name with its value, a scheme with its credentials, a token, or an ordinary word.
    private mutating func word() {
        let word = position..<end(from: position) { !$0.isNamePart }
        defer { previousWord = word }
        if let token = startOfToken(in: word) {
            copy(to: token)
            replace(to: end(from: token) { !$0.isTokenPart })
        } else if var value = value(behind: word.upperBound), isSensitive(word) {
            value.isField = text[..<word.lowerBound].last == UInt8(ascii: ";")
            replaceValue(value)
        } else if let credentials = startOfCredentials(behind: word) {
            replaceCredentials(from: credentials)
        } else {
            copy(to: word.upperBound)
        }
    }

    /// Returns whether a word is a sensitive name, on its own or together with the previous word: `API key: …`.
    private func isSensitive(_ word: Range<Int>) -> Bool {
        if names.contains(encoded: text[word]) { return true }
        return previousWord.upperBound + 1 == word.lowerBound && text[previousWord.upperBound].isASCIIWhitespace
            && names.contains(encoded: text[previousWord.lowerBound..<word.upperBound])
    }

    /// Returns the start of a token in a word; `nil` for none. `eyJ` begins every JSON Web Token (RFC 7519), and other
    /// JSON in Base64.
    private func startOfToken(in word: Range<Int>) -> Int? {
        guard let token = text[word].firstRange(of: "eyJ".utf8), word.upperBound - token.lowerBound > 5 else {
            return nil
        }
        return token.lowerBound
    }

    /// Returns the start of the credentials after a scheme (RFC 7235, section 2.1); `nil` for any other word.
    private func startOfCredentials(behind word: Range<Int>) -> Int? {
        let scheme = String(decoding: text[word], as: UTF8.self).lowercased()
        guard ["bearer", "basic", "negotiate"].contains(scheme) else { return nil }
        let start = end(from: word.upperBound) { !$0.isASCIIWhitespace }
        return start > word.upperBound ? start : nil
    }

    private mutating func replaceCredentials(from start: Int) {
        copy(to: start)
        replace(to: end(from: start) { $0.isASCIIWhitespace || "\"'<>,;&".utf8.contains($0) })
        // A name may follow the scheme: `Bearer token: …`. The whole line is removed then.
        if text[position - 1] == UInt8(ascii: ":") || value(behind: position) != nil { position = endOfLine }
    }

    /// The index at which an authority may begin: after `://`, which JavaScript also writes as `:\/\/`; `nil` if none
    /// begins here.
    private var endOfSlashes: Int? {
        let rest = text[(position + 1)...]
        if rest.starts(with: "//".utf8) { return position + 3 }
        return rest.starts(with: "\\/\\/".utf8) ? position + 5 : nil
    }

    private mutating func authority() {
        copy(to: endOfSlashes ?? position + 1)
        let longest = end(from: position, where: Self.endsAuthority)
        let host = (text[position..<longest].lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 }) ?? position
        // A password may contain punctuation such as an apostrophe or a semicolon (RFC 3986, section 3.2.1). A host
        // contains none, so punctuation there belongs to the surrounding text.
        let end = end(from: host) { !$0.isHostPart }
        let mayBeUser = isCutOff && longest == text.count
        // For a URL within another one the ends are already known, so no byte is searched twice.
        if longest >= endOfURL { endOfURL = self.end(from: longest, where: Self.endsURL) }
        if mayBeUser || !URLRedaction.isHost(text[host..<end]) {
            replace(to: endOfURL)
        } else {
            replace(to: host, with: URLRedaction.user)
            copy(to: end)
            if !keepsSegments, position >= endOfPath { endOfPath = self.end(from: position, where: Self.endsPath) }
        }
    }

    /// Removes a segment of a URL's path, if it is a value. A segment that is a name may be a sensitive one, and is
    /// left to ``word()``.
    private mutating func segment() {
        copy(to: position + 1)
        let end = end(from: position) { "/\\".utf8.contains($0) || Self.endsPath($0) }
        let marks = end == endOfPath ? self.marks(before: end) : 0
        if isCutOff, end == text.count {
            replace(to: end)
        } else if let replacement = SegmentRedaction.replacement(for: text[position..<end - marks]) {
            replace(to: end - marks, with: replacement)
        }
    }

    /// Whether the question mark at ``position`` begins the query of a URL without a scheme: `/a?code=…`.
    private var beginsQuery: Bool {
        let name = text[(position + 1)...].prefix { $0.isNamePart }
        return !name.isEmpty && text[name.endIndex...].first == UInt8(ascii: "=")
    }

    /// Removes the values of a query.
    private mutating func query() {
        let end = end(from: position) { $0 == UInt8(ascii: "#") || Self.endsURL($0) }
        let marks = marks(before: end)
        replace(to: end - marks, with: URLRedaction.query(text[position..<end - marks]))
        endOfURL = max(endOfURL, self.end(from: end, where: Self.endsURL))
    }

    private mutating func fragment() {
        let end = self.end(from: position, where: Self.endsURL)
        replace(to: end - marks(before: end), with: [])
    }

    /// Returns the number of punctuation marks before the end of a URL that belong to the text around it.
    private func marks(before end: Int) -> Int {
        text[position..<end].reversed().prefix { ".,;:!)]}'\\".utf8.contains($0) }.count
    }

    private static func endsPath(_ byte: UInt8) -> Bool { endsURL(byte) || "?#".utf8.contains(byte) }

    private static func endsAuthority(_ byte: UInt8) -> Bool { endsURL(byte) || "/?#\\".utf8.contains(byte) }

    private static func endsURL(_ byte: UInt8) -> Bool { byte.isASCIIWhitespace || "\"<>".utf8.contains(byte) }

    /// Removes a PEM block (RFC 7468).
    private mutating func block() {
        let end = text[position...].firstRange(of: "-----END".utf8)?.upperBound ?? text.count
        replace(to: text[end...].firstRange(of: "-----".utf8)?.upperBound ?? text.count)
    }
}

extension UInt8 {
    /// Whether the byte may be part of a name in any of the formats. Every byte beyond ASCII may.
    var isNamePart: Bool { isASCIIAlphanumeric || self >= 0x80 || "_-.%$[]".utf8.contains(self) }

    /// Whether the byte may be part of a host with a port.
    fileprivate var isHostPart: Bool { isASCIIAlphanumeric || self >= 0x80 || "-._~:[]%".utf8.contains(self) }

    /// Whether the byte may be part of a `token68` (RFC 7235, section 2.1).
    fileprivate var isTokenPart: Bool { isASCIIAlphanumeric || "-._~+/=".utf8.contains(self) }
}

extension TextRedaction {
    /// The position of a name's value.
    struct Value {
        /// The end of a value without quotes. It depends on the text between name and value.
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
        /// Whether a semicolon is before the name, as in a connection string.
        var isField = false
    }

    /// Returns the value of the name that ends before `end`; `nil` if none follows.
    ///
    /// - Parameter isLiteral: whether the name is a literal, including its quotes.
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

    /// Copies the text up to the value and removes the value, with everything nested in it.
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
        // The meaning of the quotes in `name: "a" b` is unknown, so the whole line is removed.
        if value.end == .line { position = endOfLine }
    }

    /// Returns the index of the closing quote; `nil` if there is none.
    ///
    /// - Parameter depth: the number of backslashes before the opening quote.
    func indexOfClosingQuote(_ quote: UInt8, from start: Int, escapedBy depth: Int = 0) -> Int? {
        var backslashes = 0
        for index in start..<text.count {
            let byte = text[index]
            // Without outer escapes, a quote after an even number of backslashes ends the literal: each two are one backslash.
            if byte == quote, depth == 0 ? backslashes.isMultiple(of: 2) : backslashes <= depth { return index }
            backslashes = byte == UInt8(ascii: "\\") ? backslashes + 1 : 0
        }
        return nil
    }

    /// Returns the index after the closing bracket, or the text's end.
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

    private mutating func endOfBare(_ value: Value) -> Int {
        switch value.end {
        case .scalar: endOfScalar
        case .word: max(end(from: position) { $0.isASCIIWhitespace || "\"'<>&".utf8.contains($0) }, endOfField(value))
        case .line: endOfLine
        }
    }

    /// Returns the end of a value in a connection string, where it may contain blanks: `Server=a;Password=b c;Port=1`.
    /// Returns ``position`` for any other value.
    private mutating func endOfField(_ value: Value) -> Int {
        if position >= endOfFields {
            endOfFields = end(from: position) { ";\"'<\r\n".utf8.contains($0) }
            isBeforeField = beginsField(text[endOfFields...])
        }
        return value.isField || isBeforeField ? endOfFields : position
    }

    /// Returns whether a text begins with a semicolon and the name of a field.
    private func beginsField(_ text: ArraySlice<UInt8>) -> Bool {
        let name = text.dropFirst().prefix { $0.isNamePart || $0 == UInt8(ascii: " ") }
        return text.first == UInt8(ascii: ";") && !name.isEmpty && text[name.endIndex...].first == UInt8(ascii: "=")
    }

    /// The end of a number or of a word of JSON; the line's end for any other value.
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

extension TextRedaction {
    /// Handles a string of JSON: a key with its value, or a value that may hold text of any kind.
    mutating func literal() {
        copy(to: position + 1)
        let closingQuote = indexOfClosingQuote(UInt8(ascii: "\""), from: position)
        let content = JSONString.decode(text[position..<(closingQuote ?? text.count)])
        replaceContent(content, to: closingQuote ?? text.count, isCutOff: closingQuote == nil)
        guard let closingQuote else { return }
        copy(to: closingQuote + 1)
        if let value = value(behind: position, isLiteral: true), names.contains(content[...]) { replaceValue(value) }
    }

    /// Redacts the content of a literal. Content without secrets keeps its escapes.
    private mutating func replaceContent(_ content: [UInt8], to end: Int, isCutOff: Bool) {
        let isTooDeep = depth >= MartletLimits.literalDepth
        let redacted =
            isTooDeep
            ? Redaction.placeholderBytes
            : Self.redact(
                content, names: names, keepsSegments: keepsSegments, isCutOff: isCutOff, depth: depth + 1)
        if redacted == content { copy(to: end) } else { replace(to: end, with: JSONString.encode(redacted)) }
    }
}

extension TextRedaction {
    /// Handles a `<`: an element of XML or HTML, or just a less-than sign.
    mutating func tag() {
        let name = (position + 1)..<end(from: position + 1) { !$0.isNamePart && $0 != UInt8(ascii: ":") }
        let end = endOfTag(from: name.upperBound)
        if !name.isEmpty, names.contains(encoded: text[name]) {
            element(name, endOfTag: end)
        } else if !name.isEmpty, hasSensitiveAttribute(name.upperBound..<end) {
            copy(to: name.upperBound)
            replace(to: end, with: " ".utf8 + Redaction.placeholderBytes)
            copy(to: min(end + 1, text.count))
            replace(to: self.end(from: position) { $0 == UInt8(ascii: "<") })
        } else {
            copy(to: position + 1)
        }
    }

    /// Returns the index of the `>` after the attributes; a quoted value may contain a `>` too. If a quote or the tag
    /// is not closed, returns the index of the next `<`, which no value contains (XML 1.0, section 3.1), or the text's
    /// end.
    private func endOfTag(from start: Int) -> Int {
        var (quote, previous): (UInt8?, UInt8) = (nil, 0)
        for index in start..<text.count {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "<"): return index
            case UInt8(ascii: ">") where quote == nil: return index
            case quote: quote = nil
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if quote == nil, previous == UInt8(ascii: "=") { quote = byte }
            default: break
            }
            if !byte.isASCIIWhitespace { previous = byte }
        }
        return text.count
    }

    /// Returns whether a sensitive name is among the attributes. Any attribute may hold its value: `<param
    /// name="password" value="…">`. A truncated tag may have lost the name, so it counts as sensitive.
    private func hasSensitiveAttribute(_ attributes: Range<Int>) -> Bool {
        if isCutOff, attributes.upperBound == text.count { return true }
        return text[attributes].split { !$0.isNamePart }.contains { names.contains(encoded: $0) }
    }

    /// Removes the attributes and the content of an element whose name is sensitive.
    private mutating func element(_ name: Range<Int>, endOfTag: Int) {
        copy(to: name.upperBound)
        guard endOfTag < text.count, text[endOfTag] == UInt8(ascii: ">") else { return replace(to: endOfTag) }
        let isEmpty = text[endOfTag - 1] == UInt8(ascii: "/")
        position = isEmpty ? endOfTag - 1 : endOfTag
        copy(to: endOfTag + 1)
        if !isEmpty { replace(to: startOfEndTag(of: text[name], from: position)) }
    }

    /// Returns the index of the element's end tag, or the text's end. Elements of the same name may be nested.
    private func startOfEndTag(of name: ArraySlice<UInt8>, from start: Int) -> Int {
        var (index, depth) = (start, 1)
        while let tag = text[index...].firstIndex(of: UInt8(ascii: "<")) {
            index = tag + 1
            let isEnd = text[index...].first == UInt8(ascii: "/")
            let rest = text[(isEnd ? index + 1 : index)...]
            guard rest.starts(with: name), !(rest.dropFirst(name.count).first?.isNamePart ?? false) else { continue }
            depth += isEnd ? -1 : 1
            if depth == 0 { return tag }
        }
        return text.count
    }
}
