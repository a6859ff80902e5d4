import MartletStorage

/// A report as a Markdown table (GitHub's dialect), with the columns of a table in a file.
package enum ReportMarkdown {
    package static func text(of report: Report, _ context: ReportContext = ReportContext()) -> String {
        let table = ReportTable(report, context, .file)
        var paragraphs = ReportHeading(table).lines
        if report.rows.isEmpty {
            paragraphs += NoResultsText.sentence(of: report, context).split(separator: "\n").map(String.init)
        } else {
            paragraphs += (report.unknownNames ?? []).map { $0.sentence + "." }
        }
        let changes = table.changes.split(separator: "\n").map {
            "- \(MarkdownText.escaped(String($0.drop { $0 == " " })))\n"
        }
        return context.findings.markdown + MarkdownText.paragraphs(paragraphs) + rows(of: table)
            + (changes.isEmpty ? "" : "\n" + changes.joined())
    }

    private static func rows(of table: ReportTable) -> String {
        let names = table.report.by.map(\.rawValue)
        let figures = table.fileColumns
        var text = MarkdownText.line(names + figures.map(\.column.title))
        text += MarkdownText.line(
            names.map { _ in "---" } + figures.map { $0.column.alignment == .figure ? "---:" : "---" })
        for row in table.fileLines {
            text += MarkdownText.line(
                row.names.map(MarkdownText.escaped) + figures.map { MarkdownText.escaped($0.cell(row.figures).text) })
        }
        return text
    }
}

/// Text that Markdown shows unchanged: no markup, no link, no mention.
enum MarkdownText {
    /// An invisible character (word joiner) that breaks a would-be link or mention.
    private static let joiner = "&#8288;"

    /// Returns a row of a table.
    static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }

    static func escaped(_ text: String) -> String {
        TerminalText.plain(text).unicodeScalars.map(escaped).joined()
            .replacing("://", with: ":\(joiner)//").replacing("www.", with: "www\(joiner).")
    }

    /// Returns lines as paragraphs. Indented lines are commands and become blocks of code, so that their characters can be copied
    /// unchanged.
    static func paragraphs(_ lines: [String]) -> String {
        lines.map { ($0.hasPrefix("  ") ? "  " + $0 : escaped($0)) + "\n\n" }.joined()
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
