/// Text that Markdown shows as it is: no markup, no link, no mention.
enum MarkdownText {
    /// An invisible character (word joiner) that ends a would-be link or mention.
    private static let joiner = "&#8288;"

    /// Returns a line of a table.
    static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }

    static func escaped(_ text: String) -> String {
        TerminalText.plain(text).unicodeScalars.map(escaped).joined()
            .replacing("://", with: ":\(joiner)//").replacing("www.", with: "www\(joiner).")
    }

    /// Returns lines as paragraphs, and commands, which are indented, as blocks of code: their characters are those to copy.
    static func paragraphs(_ lines: [String]) -> String {
        lines.map { ($0.hasPrefix("  ") ? "  " + $0 : escaped($0)) + "\n\n" }.joined()
    }

    static func paragraphs(_ text: String) -> String {
        paragraphs(text.split(separator: "\n").map(String.init))
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "<": "&lt;"
        case ">": "&gt;"
        case "&": "&amp;"
        case "@": "@" + joiner
        case "\\", "`", "|", "*", "_", "[", "]", "~", "$", "#", "!": "\\\(scalar)"
        default: String(scalar)
        }
    }
}
