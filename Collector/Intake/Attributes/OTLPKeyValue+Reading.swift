import MartletOTLP

extension [OTLPKeyValue] {
    /// Returns the text of an attribute; `nil` if the attribute is missing, empty or not a text. A text longer than
    /// ``IntakeLimits/longestName`` is returned unchanged, and the caller refuses or cuts it.
    func text(_ name: String) -> String? {
        guard case .stringValue(let text)? = first(where: { $0.key == name })?.value.value, !text.isEmpty else {
            return nil
        }
        return text.utf8.count <= IntakeLimits.longestName ? text.storable(upTo: 3 * IntakeLimits.longestName) : text
    }

    func integer(_ name: String) -> Int? {
        guard case .intValue(let value)? = first(where: { $0.key == name })?.value.value else { return nil }
        return Int(exactly: value)
    }
}

extension String {
    /// Returns the text cut to `limit` bytes, with U+FFFD for U+0000. SQLite ends a text at U+0000, and the rest would be
    /// another name or none. The text is cut before the replacement, which may take three times the memory.
    func storable(upTo limit: Int) -> String {
        let beginning = cut(toBytes: limit)
        guard beginning.utf8.contains(0) else { return beginning }
        let scalars = beginning.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }
        return String(String.UnicodeScalarView(scalars)).cut(toBytes: limit)
    }
}
