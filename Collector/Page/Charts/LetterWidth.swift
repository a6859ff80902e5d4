import MartletReports

/// The widths of letters in a picture, in sizes of the letters. The server does not know the browser's letters, so these are the
/// widths of DejaVu Sans, rounded up: few sans-serifs are wider.
enum LetterWidth {
    /// Columns of a text at most.
    private static let maxColumns = 60
    /// Bold letters are wider by this factor.
    private static let bold = 1.12
    private static let widths: [(letters: Set<Character>, width: Double)] = [
        (Set("ijl.,:;'| "), 0.34), (Set("frtI-/()[]!"), 0.42), (Set("cs"), 0.56), (Set("mwMW@%"), 1),
    ]

    /// Returns the text, or as much of its beginning and its end as there is room for. The end is long enough for a port.
    static func cut(_ text: String, to width: Double, isBold: Bool) -> String {
        (1...maxColumns).reversed().lazy.map { TextWidth.cut(text, to: $0) }.first { of($0, isBold: isBold) <= width }
            ?? "…"
    }

    static func of(_ text: String, isBold: Bool) -> Double {
        text.reduce(0) { $0 + of($1) } * (isBold ? bold : 1)
    }

    private static func of(_ letter: Character) -> Double {
        guard letter.isASCII else { return letter == "…" ? 1 : 1.3 }
        if let known = widths.first(where: { $0.letters.contains(letter) }) { return known.width }
        return letter.isLowercase || letter.isNumber || letter == "_" ? 0.64 : 0.84
    }
}
