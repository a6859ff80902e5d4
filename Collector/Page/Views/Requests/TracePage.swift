import MartletReports
import MartletStorage
import MartletTelemetry

/// A trace id that no kept span has, or no longer has.
package struct UnknownTrace: Error, CustomStringConvertible {
    package var description: String { "no spans of this trace are kept" }
}

/// The kept spans of a trace, across services.
package struct TracePage: Sendable {
    /// The value of ``PageParameter/spans`` that shows each span on a separate line.
    private static let all = "all"

    static func address(of id: String) -> PageAddress { PageAddress("/traces/", id: id) }

    /// Returns the address of the page of a trace with each span on a separate line, with the window of a view.
    static func unfolded(_ id: String, _ pageRequest: PageRequest) -> PageAddress {
        pageRequest.scoped(address(of: id)).with(.spans, all)
    }

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
        let (folded, isUnfolded) = (waterfall.folded(), pageRequest.parameters[.spans] == Self.all)
        return element("section", .class("panel flush"), Attribute("aria-labelledby", "h-spans")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-spans")) { "Spans" }
                SpanBar.legend
                if folded.contains(where: \.isFolded) { choice(isUnfolded) }
            }
            TraceTable(
                waterfall: waterfall, lines: isUnfolded ? waterfall.unfolded : folded, pageRequest: pageRequest,
                unfolded: pageRequest.here.with(.spans, Self.all), heading: "h-spans", hasJumps: true
            ).html
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

    /// The choice between folded spans and each one.
    private func choice(_ isUnfolded: Bool) -> HTML {
        element("nav", .class("tabs"), .label("Equal spans")) {
            for (title, value) in [("folded", nil), ("each", Self.all)] {
                HTML(
                    "a",
                    ((value != nil) == isUnfolded ? [Attribute("aria-current", "true")] : [])
                        + [.href(pageRequest.here.with(.spans, value))], content: HTML(title))
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
