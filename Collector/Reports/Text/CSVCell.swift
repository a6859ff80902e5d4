/// A cell of CSV.
enum CSVCell {
    /// Returns a line of cells, with its end.
    static func line(_ cells: [String]) -> String { cells.joined(separator: ",") + "\r\n" }

    /// Returns a number with all its digits; empty if it is not known.
    static func number(_ value: Double?) -> String { value.map { $0.isFinite ? "\($0)" : "" } ?? "" }

    /// Returns a text that no spreadsheet takes for a formula. Characters that would steer a terminal are written out.
    static func text(_ text: String) -> String {
        let plain = TerminalText.plain(text)
        let isFormula = text.unicodeScalars.first.map { "=+-@\t\r\n".unicodeScalars.contains($0) } ?? false
        guard isFormula || !plain.utf8.allSatisfy(isSafe) else { return plain }
        return "\"" + (isFormula ? "'" : "") + doubled(plain) + "\""
    }

    /// Returns the text with each quote doubled (RFC 4180, section 2). It goes by Unicode scalars: a quote that a combining mark
    /// follows is another character, and still a quote.
    private static func doubled(_ text: String) -> String {
        text.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined()
    }

    /// Whether a text of such characters is one cell for every program, whatever its separators are.
    private static func isSafe(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "._-/:{}[]*".utf8.contains(byte)
        }
    }
}
