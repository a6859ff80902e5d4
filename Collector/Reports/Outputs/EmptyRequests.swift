import MartletStorage

/// The explanation of a list of kept requests that has none.
package struct EmptyRequests {
    private let list: RequestsReport
    private let query: RequestsQuery
    private let counted: Report
    private let context: ReportContext

    /// - Parameters:
    ///   - query: that of the list.
    ///   - counted: the report on all requests that the filters by dimension select.
    ///   - context: explains that report if it has no rows.
    package init(_ list: RequestsReport, _ query: RequestsQuery, counted: Report, _ context: ReportContext) {
        (self.list, self.query, self.counted, self.context) = (list, query, counted, context)
    }

    /// A sentence, and a command to copy where one helps.
    package var text: String {
        if counted.rows.isEmpty { return EmptyAnswer.sentence(of: counted, context, for: "requests") }
        let measures = counted.totals.measures
        let count = query.onlyFailed ? measures.failures.count : measures.count
        let between = "between \(list.from) and \(list.to)"
        if count == 0 { return "None of the \(FigureText.counted(measures.count, "request")) \(between) failed.\n" }
        guard !isNarrower else { return RequestsTable.nothing(in: list) + "\n" }
        let noun = query.onlyFailed ? "failed request" : "request"
        return
            "\(FigureText.counted(count, noun)) \(count == 1 ? "was" : "were") counted \(between), and none of them is kept.\n"
    }

    /// The same in Markdown.
    package var markdown: String { MarkdownText.paragraphs(text) }

    /// Whether the list has conditions that counted requests are not told apart by.
    private var isNarrower: Bool {
        query.slowerThan != nil || query.fasterThan != nil || query.text != nil || query.before != nil
    }
}
