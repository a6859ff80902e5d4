import MartletReports

/// The beginning of a request's trace, and the way to all of it.
struct RequestTrace {
    /// Spans that are shown at most.
    private static let maxRows = 8

    let page: RequestPage

    var html: HTML {
        let rows = page.trace.rows.count + (page.report.moreSpans ?? 0)
        return element("section", .class("panel flush"), Attribute("aria-labelledby", "h-trace")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-trace")) {
                    "Trace "
                    element("small") {
                        rows > Self.maxRows
                            ? "the first \(Self.maxRows) of \(rows) spans" : rows == 1 ? "1 span" : "\(rows) spans"
                    }
                }
                SpanBar.legend
                link(page.visit.scoped(TracePage.address(of: page.report.summary.traceID))) {
                    "All of it"
                    Icon.next.html
                }
            }
            TraceTable(
                waterfall: page.trace, visit: page.visit, heading: "h-trace", maxRows: Self.maxRows,
                current: page.report.summary.id
            ).html
        }
    }
}
