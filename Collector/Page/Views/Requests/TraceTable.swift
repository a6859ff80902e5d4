import MartletReports

/// The spans of a trace as rows: each under the one that caused it, where its sender's clock puts it.
struct TraceTable {
    /// Bytes of a name at most.
    private static let nameBytes = 200
    /// Levels that are told apart by their indent.
    private static let deepest = 6

    let waterfall: TraceWaterfall
    let visit: Visit
    /// The id of the element that names the table.
    let heading: String
    var maxRows = Int.max
    /// Whether each failed row leads to the next.
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
        let failed = waterfall.rows.indices.filter { waterfall.rows[$0].span.failed }
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
                element("tbody") {
                    for (index, item) in waterfall.rows.prefix(maxRows).enumerated() {
                        row(item, id: Self.id(ofRow: index), next: next[index], axis)
                    }
                }
            }
        }
    }

    /// - Parameter next: the index of the next failed row.
    private func row(_ row: TraceWaterfall.Row, id: String, next: Int?, _ axis: WaterfallAxis) -> HTML {
        let span = row.span
        return element(
            "tr", .id(id), .class("d\(min(row.depth, Self.deepest))" + (span.failed ? " err" : ""))
        ) {
            element("th", Attribute("scope", "row"), .class("first")) {
                element("span", .class("svc")) { LongText.html(span.service, atMost: Self.nameBytes) }
                element("span", .class("kind")) { span.verb }
                name(of: span)
                element("span", .class("sub")) {
                    LongText.html(span.instance, atMost: Self.nameBytes)
                    if span.failed {
                        RequestOutcomeMark.html(Self.outcome(of: span), isFailure: true, atMost: Self.nameBytes)
                    }
                    if row.failedFirst {
                        " "
                        element("span", .class("tag bad")) { "failed first" }
                    }
                    if hasJumps, span.failed { jumpLink(next) }
                }
            }
            element("td", .class("wf")) { SpanBar.html(span, on: axis) }
        }
    }

    private func name(of span: TraceSpan) -> HTML {
        let name = element("span", .class("tpl")) { LongText.html(span.name, atMost: Self.nameBytes) }
        guard span.isRequest, span.id != current else { return name }
        return link(visit.scoped(RequestPage.address(of: span.id)), .class("name")) { name }
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
    /// Whether it is a request, which has a page of its own.
    var isRequest: Bool { status != nil || error != nil }
}
