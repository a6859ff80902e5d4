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
