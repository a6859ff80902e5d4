/// A pass over text of any kind that takes out secrets: the values of sensitive names in JSON, in `name=value` and `name:
/// value`, in elements and their attributes; credentials of the schemes Bearer, Basic and Negotiate; JSON Web Tokens;
/// users, passwords and segments that are values in URLs; PEM blocks.
///
/// It works on bytes, so that text in an unknown encoding and text that is cut off anywhere are not special cases: a value
/// without an end goes to the end of the text. It reads every byte a few times at most, and once more for each level of
/// strings within strings.
struct TextRedaction {
    let names: SensitiveNames
    /// Whether values stay among the segments of paths, `MARTLET_CAPTURE_PATHS`.
    let keepsSegments: Bool
    /// Whether a quote begins a literal. Quotes in other text may be unpaired.
    let isJSON: Bool
    /// Whether the text is the beginning of a longer one.
    let isCutOff: Bool
    /// The number of literals around the text.
    let depth: Int
    let text: [UInt8]
    private(set) var output: [UInt8] = []
    /// The index before which every byte is in the output or was taken out.
    var position = 0
    private var previousWord = 0..<0
    /// The end of the path of the last URL.
    private var endOfPath = 0

    static func redact(
        _ text: [UInt8], names: SensitiveNames, keepsSegments: Bool, isJSON: Bool = false, isCutOff: Bool = false,
        depth: Int = 0
    ) -> [UInt8] {
        let first = text.first { !$0.isASCIIWhitespace }
        let looksLikeJSON = first.map { "{[\"".utf8.contains($0) } ?? false
        var redaction = TextRedaction(
            names: names, keepsSegments: keepsSegments, isJSON: isJSON || looksLikeJSON, isCutOff: isCutOff,
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

    /// Handles a word: a name with its value, a scheme with its credentials, a token, or none of them.
    private mutating func word() {
        let word = position..<end(from: position) { !$0.isNamePart }
        defer { previousWord = word }
        if let token = startOfToken(in: word) {
            copy(to: token)
            replace(to: end(from: token) { !$0.isTokenPart })
        } else if let value = value(behind: word.upperBound), isSensitive(word) {
            replaceValue(value)
        } else if let credentials = startOfCredentials(behind: word) {
            replaceCredentials(from: credentials)
        } else {
            copy(to: word.upperBound)
        }
    }

    /// Returns whether a word is a sensitive name, by itself or with the word before it: `API key: …`.
    private func isSensitive(_ word: Range<Int>) -> Bool {
        if names.contains(text[word]) { return true }
        return previousWord.upperBound + 1 == word.lowerBound && text[previousWord.upperBound].isASCIIWhitespace
            && names.contains(text[previousWord.lowerBound..<word.upperBound])
    }

    /// Returns the start of a token in a word; `nil` for none. `eyJ` begins every JSON Web Token (RFC 7519), and other JSON
    /// in Base64.
    private func startOfToken(in word: Range<Int>) -> Int? {
        guard let token = text[word].firstRange(of: "eyJ".utf8), word.upperBound - token.lowerBound > 5 else {
            return nil
        }
        return token.lowerBound
    }

    /// Returns the start of the credentials behind a scheme (RFC 7235, section 2.1); `nil` for any other word.
    private func startOfCredentials(behind word: Range<Int>) -> Int? {
        let scheme = String(decoding: text[word], as: UTF8.self).lowercased()
        guard ["bearer", "basic", "negotiate"].contains(scheme) else { return nil }
        let start = end(from: word.upperBound) { !$0.isASCIIWhitespace }
        return start > word.upperBound ? start : nil
    }

    private mutating func replaceCredentials(from start: Int) {
        copy(to: start)
        replace(to: end(from: start) { $0.isASCIIWhitespace || "\"'<>,;&".utf8.contains($0) })
        // A name may follow the scheme: `Bearer token: …`. The whole line goes then.
        if text[position - 1] == UInt8(ascii: ":") || value(behind: position) != nil { position = endOfLine }
    }

    /// The index at which an authority may begin: behind `://`, which JavaScript also writes as `:\/\/`; `nil` where none
    /// does.
    private var endOfSlashes: Int? {
        let rest = text[(position + 1)...]
        if rest.starts(with: "//".utf8) { return position + 3 }
        return rest.starts(with: "\\/\\/".utf8) ? position + 5 : nil
    }

    private mutating func authority() {
        copy(to: endOfSlashes ?? position + 1)
        let longest = end(from: position, where: Self.endsAuthority)
        let host = (text[position..<longest].lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 }) ?? position
        // A password may contain an apostrophe (RFC 3986, section 3.2.1). A host contains none, so an apostrophe there
        // belongs to the text around the URL.
        let end = end(from: host) { $0 == UInt8(ascii: "'") || Self.endsAuthority($0) }
        let mayBeUser = isCutOff && longest == text.count
        if mayBeUser || !URLRedaction.isHost(text[host..<end]) {
            replace(to: self.end(from: longest, where: Self.endsURL))
        } else {
            replace(to: host, with: URLRedaction.user)
            copy(to: end)
            // The end of the path is known for a URL within a path, so that no byte is searched twice for it.
            if !keepsSegments, position >= endOfPath { endOfPath = self.end(from: position, where: Self.endsPath) }
        }
    }

    /// Takes out a segment of a URL's path, if it is a value. A name may be that of a secret, and is left to ``word()``.
    private mutating func segment() {
        copy(to: position + 1)
        let end = end(from: position) { "/\\".utf8.contains($0) || Self.endsPath($0) }
        // Punctuation of the text may follow the last segment.
        let marks =
            end == endOfPath ? text[position..<end].reversed().prefix { ".,;:!)]}'".utf8.contains($0) }.count : 0
        if isCutOff, end == text.count {
            replace(to: end)
        } else if let replacement = SegmentRedaction.replacement(for: text[position..<end - marks]) {
            replace(to: end - marks, with: replacement)
        }
    }

    private static func endsPath(_ byte: UInt8) -> Bool { endsURL(byte) || "?#".utf8.contains(byte) }

    private static func endsAuthority(_ byte: UInt8) -> Bool { endsURL(byte) || "/?#\\".utf8.contains(byte) }

    private static func endsURL(_ byte: UInt8) -> Bool { byte.isASCIIWhitespace || "\"<>".utf8.contains(byte) }

    /// Takes out a block of PEM (RFC 7468).
    private mutating func block() {
        let end = text[position...].firstRange(of: "-----END".utf8)?.upperBound ?? text.count
        replace(to: text[end...].firstRange(of: "-----".utf8)?.upperBound ?? text.count)
    }
}

extension UInt8 {
    /// Whether the byte may be part of a name in any of the formats. Every byte beyond ASCII may.
    var isNamePart: Bool { isASCIIAlphanumeric || self >= 0x80 || "_-.%$[]".utf8.contains(self) }

    /// Whether the byte may be part of a `token68` (RFC 7235, section 2.1).
    fileprivate var isTokenPart: Bool { isASCIIAlphanumeric || "-._~+/=".utf8.contains(self) }
}
