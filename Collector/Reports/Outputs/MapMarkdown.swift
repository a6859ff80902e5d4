/// The edges of the map as a table of Markdown (GitHub's dialect), with the columns of a table in a file.
package enum MapMarkdown {
    package static func text(of report: MapReport, _ context: ReportContext = ReportContext()) -> String {
        let table = MapTable(report, context, .file)
        guard !report.edges.isEmpty else {
            let explanation = EmptyAnswer.sentence(of: report, context, for: "map")
            return MarkdownText.paragraphs(table.heading) + MarkdownText.paragraphs(explanation)
        }
        var text = MarkdownText.paragraphs(table.heading) + MarkdownText.line(MapTable.columns.map(\.title))
        text += MarkdownText.line(MapTable.columns.map { $0.alignment == .figure ? "---:" : "---" })
        for edge in report.edges {
            text += MarkdownText.line(MapTable.cells(of: edge).map { MarkdownText.escaped($0.text) })
        }
        let notes = table.notes.map { "- \(MarkdownText.escaped($0))\n" }
        return text + (notes.isEmpty ? "" : "\n" + notes.joined())
    }
}
