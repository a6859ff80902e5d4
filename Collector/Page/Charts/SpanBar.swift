import MartletReports

/// A span of a trace as a bar: one that serves is filled, one that calls is outlined, one that does something is thin.
enum SpanBar {
    private static let height = 30.0
    /// The share of the width that a bar has at least.
    private static let least = 0.003
    /// The share of the width that a bar has to have for its figure to stand in it, and the room that the figure takes.
    private static let roomOfFigure = 0.16
    private static let gap = 0.006

    static func html(_ span: TraceSpan, on axis: WaterfallAxis) -> HTML {
        let (figure, start) = (FigureText.figure(span.duration) + " ms", FigureText.figure(span.offset))
        let x = axis.share(span.offset)
        let width = max(Self.least, min(axis.share(span.duration), 1 - x))
        return SVG.wide(
            "span", height: height, .role("img"), .label("from \(start) ms for \(figure)")
        ) {
            axis.grid(to: height + 14)
            bar(span, x: min(x, 1 - Self.least), width: width)
            text(figure, of: span, x: x, width: width)
        }
    }

    private static func bar(_ span: TraceSpan, x: Double, width: Double) -> HTML {
        let isThin = span.verb == "does"
        return SVG.rect(
            name(of: span) + (span.failed ? " failedbar" : ""), x: x, y: isThin ? 12 : 7, width: width,
            height: isThin ? 6 : 16, radius: 2)
    }

    private static func name(of span: TraceSpan) -> String {
        switch span.verb {
        case "serves": "b-server"
        case "calls": "b-client"
        default: "b-internal"
        }
    }

    /// The figure in a long bar, after a short one, or before one that begins at the right edge.
    private static func text(_ figure: String, of span: TraceSpan, x: Double, width: Double) -> HTML {
        let end = x + width
        if width >= roomOfFigure, span.verb != "does" {
            return WaterfallAxis.text(
                figure, x: end - gap, y: 19, anchor: "end", class: span.verb == "serves" ? "onbar" : "inbar")
        }
        return end + roomOfFigure <= 1
            ? WaterfallAxis.text(figure, x: end + gap, y: 19, anchor: "start")
            : WaterfallAxis.text(figure, x: x - gap, y: 19, anchor: "end")
    }

    /// The looks of bars and their names.
    static var legend: HTML {
        element("p", .class("legend")) {
            sample("serves", "b-server", y: 0, height: 12)
            sample("calls", "b-client", y: 0.75, height: 10.5)
            sample("does", "b-internal", y: 3, height: 6)
            sample("failed", "b-server failedbar", y: 0, height: 12)
        }
    }

    private static func sample(_ title: String, _ name: String, y: Double, height: Double) -> HTML {
        element("span") {
            element("svg", Attribute("width", "18"), Attribute("height", "12"), .hidden) {
                element(
                    "rect", .class(name), Attribute("x", "1"), Attribute("y", SVG.number(y)), Attribute("width", "16"),
                    Attribute("height", SVG.number(height)), Attribute("rx", "2")
                ) {}
            }
            title
        }
    }
}
