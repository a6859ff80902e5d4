import MartletStorage

/// A report as a table of Markdown (GitHub's dialect), with the columns of a table in a file.
package enum ReportMarkdown {
    package static func text(of report: Report, _ context: ReportContext = ReportContext()) -> String {
        let table = ReportTable(report, context, .file)
        var paragraphs = ReportHeading(table).lines
        if report.rows.isEmpty {
            paragraphs += EmptyAnswer.sentence(of: report, context).split(separator: "\n").map(String.init)
        } else {
            paragraphs += context.names.map { $0.sentence + "." }
        }
        let changes = table.changes.split(separator: "\n").map {
            "- \(MarkdownText.escaped(String($0.drop { $0 == " " })))\n"
        }
        return MarkdownText.paragraphs(paragraphs) + rows(of: table)
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
