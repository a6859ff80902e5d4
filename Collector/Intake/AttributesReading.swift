import MartletOTLP

extension [OTLPKeyValue] {
    /// The text of an attribute; `nil` where it is missing, empty or no text. One that is longer than any name may be is as it
    /// came: it is refused, or cut.
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
    /// Cut to so many bytes, and with U+FFFD for U+0000, at which SQLite ends a text: what is left would be another name, or
    /// none. Cut first, for what is put in takes three times the memory.
    func storable(upTo limit: Int) -> String {
        let beginning = cut(toBytes: limit)
        guard beginning.utf8.contains(0) else { return beginning }
        let scalars = beginning.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }
        return String(String.UnicodeScalarView(scalars)).cut(toBytes: limit)
    }
}
