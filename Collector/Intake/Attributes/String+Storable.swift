import MartletTelemetry

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
