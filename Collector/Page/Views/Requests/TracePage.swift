import MartletReports
import MartletStorage
import MartletTelemetry

/// A trace id that no kept span has, or no longer has.
package struct UnknownTrace: Error, CustomStringConvertible {
    package var description: String { "no spans of this trace are kept" }
}

/// The kept spans of a trace, across services.
package struct TracePage: Sendable {
    static func address(of id: String) -> PageAddress { PageAddress("/traces/", id: id) }

    let pageRequest: PageRequest
    let facts: FrameData
    /// The id in hexadecimal digits.
    let id: String
    let waterfall: TraceWaterfall
    /// The number of spans that are not shown.
    let more: Int

    /// - Throws: ``UnknownTrace``, or the store's error.
    package init(_ id: String, _ pageRequest: PageRequest, in storage: some Storage) async throws {
        guard let trace = TraceID(hexDigits: id.utf8) else { throw UnknownTrace() }
        let answer = try await storage.spans(ofTrace: trace, limit: RequestReport.maxSpans)
        guard let first = answer.spans.map(\.span.start).min() else { throw UnknownTrace() }
        self.pageRequest = pageRequest
        self.id = trace.description
        waterfall = TraceWaterfall(answer.spans.map { TraceSpan($0, after: first) })
        more = answer.more
        facts = try await FrameData(pageRequest, in: storage)
    }

    /// Returns the page request for the page of a trace.
    package static func pageRequest(
        _ id: String, _ pairs: [(String, String)], now: UnixNanoseconds
    ) throws(ParameterError) -> PageRequest {
        try PageRequest(address(of: id), pairs, now: now)
    }
}

extension TracePage {
    /// The maximum length of a name, in bytes.
    private static let nameBytes = 200

    package var html: HTML {
        let title = (root?.name ?? id).cut(toBytes: Self.nameBytes)
        return PageFrame(pageRequest: pageRequest, facts: facts).document(
            "Trace of \(title)", view: .requests, hasScope: false
        ) {
            element("nav", .class("crumbs"), .label("Path")) {
                link(pageRequest.address(of: .requests)) { "Requests" }
            }
            head
            FactStrip.html(figures, id: "errors")
            for skew in waterfall.skews { notice(skew) }
            spans
            command
        }
    }

    private var root: TraceSpan? { waterfall.rows.first?.span }
    private var errors: Int { waterfall.rows.filter(\.span.failed).count }
    private var count: Int { waterfall.rows.count }

    private var head: HTML {
        element("header", .class("title")) {
            element("div") {
                element("h1") {
                    element("span", .class("tpl")) { LongText.html(root?.name ?? id, atMost: Self.nameBytes) }
                    if let root {
                        " "
                        element("small") {
                            LongText.html(
                                "\(root.verb == "serves" ? "served" : "started") by \(root.service)",
                                atMost: Self.nameBytes)
                        }
                    }
                }
                element("p", .class("sub")) {
                    "Trace "
                    element("span", .class("mono")) { id }
                    if let time = root?.time {
                        ", "
                        element("time", Attribute("datetime", time)) {
                            time.replacing("T", with: " ").replacing("Z", with: " UTC")
                        }
                    }
                }
            }
        }
    }

    private var figures: [FactStrip.Fact] {
        let shown = FigureText.grouped(UInt64(count))
        let all = FigureText.grouped(UInt64(count + more))
        var facts = [
            FactStrip.Fact(
                title: "Errors", value: HTML(errorsInWords),
                note: "of \(all) \(count + more == 1 ? "span" : "spans")",
                isBad: errors > 0),
            FactStrip.Fact(title: "Duration", value: HTML(Figure.duration(waterfall.scale))),
            FactStrip.Fact(
                title: "Services", value: HTML(FigureText.grouped(UInt64(waterfall.services.count))),
                note: waterfall.services.joined(separator: ", ").cut(toBytes: Self.nameBytes)),
            FactStrip.Fact(
                title: "Spans", value: HTML(all), note: more > 0 ? "\(shown) are shown" : "all are shown"),
        ]
        if let first = waterfall.rows.firstIndex(where: \.failedFirst) {
            facts.append(FactStrip.Fact(title: "Failed first", value: jumpToFirst(first), isWide: true))
        }
        return facts
    }

    /// The number of failed spans.
    private var errorsInWords: String {
        guard errors > 0 else { return "none" }
        return FigureText.grouped(UInt64(errors)) + (isRestKnown ? "" : " or more")
    }

    /// Whether the spans that are not shown are known to have succeeded.
    private var isRestKnown: Bool { more == 0 || waterfall.hasAllFailed }

    private func jumpToFirst(_ row: Int) -> HTML {
        jump(to: TraceTable.id(ofRow: row)) {
            TraceTable.sentence(waterfall.rows[row].span)
            Icon.down.html
        }
    }

    private func notice(_ skew: TraceWaterfall.Skew) -> HTML {
        element("aside", .class("notice warn")) {
            element("h2") {
                Icon.part.html
                LongText.html(
                    """
                    The clock of \(skew.sender) is \(FigureText.figure(skew.behind)) ms or more behind that of \
                    \(skew.caller)
                    """, atMost: 3 * Self.nameBytes)
            }
            element("p") {
                """
                Its spans are drawn by its own clock, so they seem to begin before the call that caused them. \
                Durations are not affected.
                """
            }
        }
    }

    private var spans: HTML {
        element("section", .class("panel flush"), Attribute("aria-labelledby", "h-spans")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-spans")) { "Spans" }
                SpanBar.legend
            }
            TraceTable(waterfall: waterfall, pageRequest: pageRequest, heading: "h-spans", hasJumps: true).html
            if more > 0 {
                element("p", .class("hint")) {
                    "\(FigureText.counted(more, "more span")) of this trace \(more == 1 ? "is" : "are") kept. "
                    isRestKnown
                        ? "All failed spans are shown, and the earliest of the others."
                        : "Only failed spans are shown, and there may be more of them."
                }
            }
        }
    }

    private var command: HTML {
        guard let request = waterfall.rows.first(where: { $0.span.isRequest })?.span else { return .none }
        return CommandLine(
            pageRequest, "requests show \(request.id)",
            formats: [("JSON", PageAddress("/api/v1/requests/", id: request.id))]
        ).html
    }
}

/// The spans of a trace as rows. Each is below the span that caused it, and is placed in time by its sender's clock.
struct TraceTable {
    /// The maximum length of a name, in bytes.
    private static let nameBytes = 200
    /// The maximum number of levels that have different indents.
    private static let deepest = 6

    let waterfall: TraceWaterfall
    let pageRequest: PageRequest
    /// The id of the element that names the table.
    let heading: String
    var maxRows = Int.max
    /// Whether each failed row links to the next.
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
        return link(pageRequest.scoped(RequestPage.address(of: span.id)), .class("name")) { name }
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
