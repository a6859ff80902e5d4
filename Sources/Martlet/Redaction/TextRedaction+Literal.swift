extension TextRedaction {
    /// Handles a string of JSON: a key with its value, or a value that may hold text of any kind.
    mutating func literal() {
        copy(to: position + 1)
        let closer = closer(of: UInt8(ascii: "\""), from: position)
        let content = JSONString.decode(text[position..<(closer ?? text.count)])
        replaceContent(content, to: closer ?? text.count, isCutOff: closer == nil)
        guard let closer else { return }
        copy(to: closer + 1)
        if let value = value(behind: position, isLiteral: true), names.contain(content[...]) { replaceValue(value) }
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
