/// Texts as literals of SQL.
enum SQLText {
    /// Returns the text in quotes.
    static func quoted(_ text: String) -> String {
        var result = "'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'", "\\": result += "\\\(Character(scalar))"
            case "\0": result += "\\0"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "'"
    }

    /// Returns the value of a column of FixedString.
    static func bytes(_ bytes: [UInt8]) -> String { "unhex('\(bytes.hexDigits)')" }

    /// Returns a list in parentheses for IN. An empty list has a text that no row has, because ClickHouse refuses `()`.
    static func list(_ texts: some Collection<String>) -> String {
        texts.isEmpty ? "('\\0none')" : "(\(texts.map(quoted).joined(separator: ", ")))"
    }

    static func list(_ numbers: some Collection<UInt64>) -> String {
        numbers.isEmpty ? "(NULL)" : "(\(numbers.map(String.init).joined(separator: ", ")))"
    }
}
