/// Kept requests as a table of Markdown (GitHub's dialect).
package enum RequestsMarkdown {
    package static func text(of report: RequestsReport) -> String {
        guard !report.requests.isEmpty else { return MarkdownText.escaped(RequestsTable.nothing(in: report)) + "\n" }
        let names = ["time", "service", "method", "host", "endpoint", "status", "ms", "trace", "id"]
        var text = MarkdownText.escaped(RequestsTable.heading(of: report)) + "\n\n" + MarkdownText.line(names)
        text += MarkdownText.line(names.map { $0 == "ms" ? "---:" : "---" })
        for request in report.requests {
            let cells = [
                request.time, request.service, request.method, request.host, request.endpoint,
                RequestsTable.outcome(of: request), FigureText.figure(request.duration), request.traceID, request.id,
            ]
            text += MarkdownText.line(cells.map(MarkdownText.escaped))
        }
        return text
    }
}
