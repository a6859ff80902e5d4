extension TextRedaction {
    /// Handles a `<`: an element of XML or HTML, or just a less-than sign.
    mutating func tag() {
        let name = (position + 1)..<end(from: position + 1) { !$0.isNamePart && $0 != UInt8(ascii: ":") }
        let end = endOfTag(from: name.upperBound)
        if !name.isEmpty, names.contains(text[name]) {
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

    /// Returns the index of the `>` behind the attributes; a quoted value may contain a `>` too. Where a quote or the tag
    /// itself is left open, it is the index of the next `<`, which no value contains (XML 1.0, section 3.1), or the text's
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

    /// Returns whether a sensitive name is among the attributes. Any attribute may hold its value: `<param name="password"
    /// value="…">`. A tag that is cut off may have lost the name, so it counts as sensitive.
    private func hasSensitiveAttribute(_ attributes: Range<Int>) -> Bool {
        if isCutOff, attributes.upperBound == text.count { return true }
        return text[attributes].split { !$0.isNamePart }.contains { names.contains($0) }
    }

    /// Takes out the attributes and the content of an element whose name is sensitive.
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
