import MartletReports

/// The spans of a trace as rows, of which equal siblings may share one. Each is below the span that caused it, and is placed in
/// time by its sender's clock.
struct TraceTable {
    /// The maximum length of a name, in bytes.
    private static let nameBytes = 200
    /// The maximum number of levels that have different indents.
    private static let deepest = 6

    let waterfall: TraceWaterfall
    let lines: [TraceLine]
    let pageRequest: PageRequest
    /// The address of the trace with each span on a separate line.
    let unfolded: PageAddress
    /// The id of the element that names the table.
    let heading: String
    /// Whether each line with a failure links to the next.
    var hasJumps = false
    /// The id of the span that the page is about.
    var current: String?

    static func id(ofRow index: Int) -> String { "s\(index + 1)" }

    /// Returns a span as a clause: "payments calls POST /charges".
    static func sentence(_ span: TraceSpan) -> HTML {
        LongText.html("\(span.service) \(span.verb) \(span.name)", atMost: 2 * nameBytes)
    }

    var html: HTML {
        let axis = WaterfallAxis(upTo: waterfall.scale)
        let failed = lines.filter { !$0.failed.isEmpty }.map(\.rows[0])
        let next = Dictionary(zip(failed, failed.dropFirst())) { first, _ in first }
        return element(
            "div", .class("scroll"), Attribute("tabindex", "0"), .role("region"),
            Attribute("aria-labelledby", heading)
        ) {
            element("table", .class("grid trace")) {
                element("thead") {
                    element("tr") {
                        element("th", Attribute("scope", "col"), .class("first")) { "Span" }
                        element("th", Attribute("scope", "col"), .class("wf")) {
                            element("span", .class("vh")) { "When" }
                            axis.head
                        }
                    }
                }
                element("tbody") { for line in lines { row(line, next: next[line.rows[0]], axis) } }
            }
        }
    }

    /// - Parameter next: the index of the first row of the next line with a failure.
    private func row(_ line: TraceLine, next: Int?, _ axis: WaterfallAxis) -> HTML {
        let hasFailed = !line.failed.isEmpty
        return element(
            "tr", .id(Self.id(ofRow: line.rows[0])),
            .class("d\(min(line.depth, Self.deepest))" + (hasFailed ? " err" : ""))
        ) {
            element("th", Attribute("scope", "row"), .class("first")) {
                element("span", .class("svc")) { LongText.html(line.span.service, atMost: Self.nameBytes) }
                element("span", .class("kind")) { line.span.verb }
                name(of: line)
                element("span", .class("sub")) {
                    line.isFolded ? foldedFacts(line) : facts(line.span)
                    if line.failedFirst {
                        " "
                        element("span", .class("tag bad")) { "failed first" }
                    }
                    if hasJumps, hasFailed { jumpLink(next) }
                }
            }
            element("td", .class("wf")) {
                line.isFolded ? SpanBar.html(line, on: axis) : SpanBar.html(line.span, on: axis)
            }
        }
    }

    private func name(of line: TraceLine) -> HTML {
        let name = element("span", .class("tpl")) { LongText.html(line.name, atMost: Self.nameBytes) }
        if line.isFolded { return link(unfolded.at(Self.id(ofRow: line.rows[0])), .class("name")) { name } }
        guard line.span.isRequest, line.span.id != current else { return name }
        return link(pageRequest.scoped(RequestPage.address(of: line.span.id)), .class("name")) { name }
    }

    @HTMLBuilder private func facts(_ span: TraceSpan) -> HTML {
        LongText.html(span.instance, atMost: Self.nameBytes)
        if span.failed {
            RequestOutcomeMark.html(Self.outcome(of: span), isFailure: true, atMost: Self.nameBytes)
        }
    }

    /// The order and duration of folded spans, with links to the first failed one and to the slowest.
    @HTMLBuilder private func foldedFacts(_ line: TraceLine) -> HTML {
        // A link to any of the spans leads to their line.
        for row in line.rows.dropFirst() { element("span", .id(Self.id(ofRow: row))) {} }
        "\(line.order), \(Figure.duration(line.duration))"
        if let above = line.timeAbove { " of \(Figure.duration(above))" }
        if let first = line.failed.first {
            link(unfolded.at(Self.id(ofRow: first)), .class("jump")) {
                RequestOutcomeMark.html(
                    "\(FigureText.grouped(UInt64(line.failed.count))) failed", isFailure: true, atMost: Self.nameBytes)
            }
        }
        link(unfolded.at(Self.id(ofRow: line.slowest)), .class("jump")) {
            "slowest \(Figure.duration(waterfall.rows[line.slowest].span.duration))"
        }
    }

    private func jumpLink(_ next: Int?) -> HTML {
        guard let next else { return jump(to: "errors", .class("jump")) { "to the top" } }
        return jump(to: Self.id(ofRow: next), .class("jump")) { "next error" }
    }

    private static func outcome(of span: TraceSpan) -> String {
        span.error ?? span.status.map(String.init) ?? "error"
    }
}

extension TraceSpan {
    /// Whether the span is a request, which has a separate page.
    var isRequest: Bool { status != nil || error != nil || system != nil }
}
