import MartletReports
import MartletTelemetry

extension TracePage {
    /// Bytes of a name at most.
    private static let nameBytes = 200

    package var html: HTML {
        let title = (root?.name ?? id).cut(toBytes: Self.nameBytes)
        return PageFrame(visit: visit, facts: facts).document("Trace of \(title)", view: .requests, hasScope: false) {
            element("nav", .class("crumbs"), .label("Path")) {
                link(visit.address(of: .requests)) { "Requests" }
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
                                "\(root.verb == "serves" ? "served" : "begun") by \(root.service)",
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
                Its spans are drawn where its own clock puts them, so they seem to begin before the call that caused them. \
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
            TraceTable(waterfall: waterfall, visit: visit, heading: "h-spans", hasJumps: true).html
            if more > 0 {
                element("p", .class("hint")) {
                    "\(FigureText.counted(more, "more span")) of this trace \(more == 1 ? "is" : "are") kept. "
                    isRestKnown
                        ? "All failed spans are shown, and of the others those that began first."
                        : "Only failed spans are shown, and there may be more of them."
                }
            }
        }
    }

    private var command: HTML {
        guard let request = waterfall.rows.first(where: { $0.span.isRequest })?.span else { return .none }
        return CommandLine(
            visit, "requests show \(request.id)", formats: [("JSON", PageAddress("/api/v1/requests/", id: request.id))]
        ).html
    }
}
