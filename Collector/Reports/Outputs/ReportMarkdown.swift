import MartletStorage

/// A report as a table of Markdown (GitHub's dialect), with the columns of a table in a file.
package enum ReportMarkdown {
    package static func text(of report: Report, _ context: ReportContext = ReportContext()) -> String {
        let table = ReportTable(report, context, .file)
        var paragraphs = ReportHeading(table).lines
        if report.rows.isEmpty {
            paragraphs += EmptyAnswer.sentence(of: report, context).split(separator: "\n").map(String.init)
        }
        return paragraphs.map { MarkdownText.escaped($0) + "\n\n" }.joined() + rows(of: table)
    }

    private static func rows(of table: ReportTable) -> String {
        let names = table.report.by.map(\.rawValue)
        let figures = ReportColumn.file(phases: table.context.showsPhases)
        var text = MarkdownText.line(names + figures.map(\.column.title))
        text += MarkdownText.line(names.map { _ in "---" } + figures.map { _ in "---:" })
        for row in table.fileLines {
            text += MarkdownText.line(
                row.names.map(MarkdownText.escaped) + figures.map { MarkdownText.escaped($0.cell(row.figures).text) })
        }
        return text
    }
}
