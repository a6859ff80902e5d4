import Foundation
import MartletReports
import MartletTelemetry

/// A figure over time as a line without axes, scaled from its smallest value to its largest.
enum TrendLine {
    /// The minimum number of figures for a trend.
    private static let fewest = 3
    private static let margin = 1.5

    /// - Parameters:
    ///   - figures: one for each slot; `nil` leaves a gap for a slot without the figure.
    ///   - label: a sentence that describes the line.
    static func html(_ figures: [Double?], height: Double, label: String) -> HTML {
        let known = figures.compactMap { $0 }.filter(\.isFinite)
        guard known.count >= fewest, let least = known.min(), let most = known.max() else {
            return element("span", .class("zero")) { "no trend yet" }
        }
        let steps = Double(max(1, figures.count - 1))
        let points = figures.enumerated().compactMap { slot, figure -> (x: Double, y: Double)? in
            guard let figure, figure.isFinite else { return nil }
            let share = most > least ? (figure - least) / (most - least) : 0.5
            return (100 * Double(slot) / steps, height - margin - share * (height - 2 * margin))
        }
        return SVG.wide(
            "spark", height: height, Attribute("viewBox", "0 0 100 \(SVG.number(height))"),
            Attribute("preserveAspectRatio", "none"), .role("img"), .label(label)
        ) { SVG.line(points) }
    }
}

/// A thin bar under a figure, whose length is the figure's share of the largest in its column.
enum ShareBar {
    static func html(_ share: Double, isBad: Bool = false) -> HTML {
        SVG.wide(isBad ? "bar bad" : "bar", height: 4, .hidden) {
            SVG.rect("rail", width: 1, height: 4, radius: 2)
            SVG.rect("fill", width: share.isFinite ? min(max(share, 0), 1) : 0, height: 4, radius: 2)
        }
    }
}

/// A ledger as one bar with the delivered, waiting and dropped requests, as shares of the captured ones.
enum LedgerBar {
    static func html(_ ledger: AgentsReport.Account) -> HTML {
        let parts = [("l-ok", ledger.delivered), ("l-wait", ledger.waiting), ("l-drop", ledger.droppedCount)]
        // The parts that a faulty sender reports may add up to more than the whole.
        let whole = max(Double(ledger.captured), parts.reduce(0) { $0 + Double($1.1) })
        var x = 0.0
        let bars = parts.filter { $0.1 > 0 }.map { name, count in
            let width = Double(count) / whole
            defer { x += width }
            return SVG.rect(name, x: x, width: width, height: 6)
        }
        return SVG.wide("ledger", height: 6, .hidden) { bars }
    }

    /// The colour of a part, next to its name.
    static func key(_ name: String) -> HTML {
        element("svg", Attribute("width", "12"), Attribute("height", "12"), .hidden) {
            element(
                "rect", .class(name), Attribute("width", "12"), Attribute("height", "12"), Attribute("rx", "2")
            ) {}
        }
    }
}

extension AgentsReport.Account {
    /// Dropped requests, whatever the reason.
    var droppedCount: UInt64 { dropped.values.reduce(0, &+) }

    /// The share of captured requests that arrived; `nil` if there are none.
    var arrivedShare: Double? { captured > 0 ? min(1, Double(delivered) / Double(captured)) : nil }
}

/// The bar of a span in a trace. It is filled if the span serves a request, outlined if it calls a service, and thin if it does
/// something else.
enum SpanBar {
    private static let height = 30.0
    /// The smallest width of a bar, as a share of the whole width.
    private static let least = 0.003
    /// The width of a figure, and the minimum width of a bar that has its figure inside, as shares of the whole width.
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
            bar(span, x: min(x, 1 - Self.least), width: width, isFailure: span.failed)
            text(figure, of: span, x: x, width: width)
        }
    }

    /// Equal siblings in one bar: the times in which they ran, and above them the failed ones.
    static func html(_ line: TraceLine, on axis: WaterfallAxis) -> HTML {
        let (figure, start) = (FigureText.figure(line.duration) + " ms", FigureText.figure(line.times[0].from))
        let failed = line.spans.filter(\.failed).sorted { $0.offset < $1.offset }.map { (from: $0.offset, to: $0.end) }
        return SVG.wide(
            "span", height: height, .role("img"),
            .label("\(line.spans.count) spans from \(start) ms, \(line.order), for \(figure)")
        ) {
            axis.grid(to: height + 14)
            bars(line.times, of: line.span, isFailure: false, axis)
            bars(failed, of: line.span, isFailure: true, axis)
        }
    }

    /// - Parameter times: in the order of their beginnings. Those without a visible gap become one bar.
    private static func bars(
        _ times: [(from: Double, to: Double)], of span: TraceSpan, isFailure: Bool, _ axis: WaterfallAxis
    ) -> [HTML] {
        var bars: [(from: Double, to: Double)] = []
        for (from, to) in times.map({ (axis.share($0.from), axis.share($0.to)) }) {
            let bar = (from: min(from, 1 - least), to: max(to, min(from, 1 - least) + least))
            if let last = bars.indices.last, bar.from - bars[last].to < least {
                bars[last].to = max(bars[last].to, bar.to)
            } else {
                bars.append(bar)
            }
        }
        return bars.map { self.bar(span, x: $0.from, width: $0.to - $0.from, isFailure: isFailure) }
    }

    private static func bar(_ span: TraceSpan, x: Double, width: Double, isFailure: Bool) -> HTML {
        let isThin = span.verb == "does"
        return SVG.rect(
            name(of: span) + (isFailure ? " failedbar" : ""), x: x, y: isThin ? 12 : 7, width: width,
            height: isThin ? 6 : 16, radius: 2)
    }

    private static func name(of span: TraceSpan) -> String {
        switch span.verb {
        case "serves": "b-server"
        case "calls": "b-client"
        default: "b-internal"
        }
    }

    /// The figure: inside a long bar, after a short one, or before a short one near the right edge.
    private static func text(_ figure: String, of span: TraceSpan, x: Double, width: Double) -> HTML {
        let end = x + width
        if width >= roomOfFigure, span.verb != "does" {
            return SVG.text(
                figure, x: end - gap, y: 19, anchor: .end, class: span.verb == "serves" ? "onbar" : "inbar")
        }
        return end + roomOfFigure <= 1
            ? SVG.text(figure, x: end + gap, y: 19)
            : SVG.text(figure, x: x - gap, y: 19, anchor: .end)
    }

    /// The kinds of bars and their names.
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

/// A request's time as a strip of its sides. Its length is the logarithm of the duration, so that short requests stay visible next
/// to long ones. Time that no phase covers stays empty.
struct PhaseStrip {
    private static let height = 10.0

    private let duration: Double
    private let times: [(side: PhaseSide, time: Double)]

    /// - Parameters:
    ///   - phases: milliseconds by ``RequestPhase``.
    ///   - duration: milliseconds.
    init(_ phases: [String: Double], duration: Double) {
        self.duration = duration.isFinite ? max(0, duration) : 0
        let known = phases.compactMap { name, time in
            RequestPhase(rawValue: name).map { (PhaseSide($0), time.isFinite ? max(0, time) : 0) }
        }
        times = PhaseSide.allCases.compactMap { side in
            let time = known.filter { $0.0 == side }.reduce(0) { $0 + $1.1 }
            return time > 0 ? (side, time) : nil
        }
    }

    /// - Parameter longest: the duration that fills the width of the picture, in milliseconds.
    func html(longest: Double) -> HTML {
        let width = length(longest: longest)
        return SVG.wide("phases", height: Self.height, .role("img"), .label(label)) {
            SVG.rect("rest", width: width, height: Self.height)
            bars(width: width)
        }
    }

    private func bars(width: Double) -> [HTML] {
        let whole = max(duration, times.reduce(0) { $0 + $1.time })
        var end = 0.0
        return times.map { side, time in
            defer { end += time }
            return SideStyle.bar(
                side, x: end / whole * width, width: time / whole * width, height: Self.height)
        }
    }

    private func length(longest: Double) -> Double {
        guard longest.isFinite, longest > 0 else { return 0 }
        return min(1, log(1 + duration) / log(1 + longest))
    }

    private var label: String {
        let known = times.map { "\(SideStyle.name(of: $0.side)) \(FigureText.figure($0.time)) ms" }
        let rest = duration - times.reduce(0) { $0 + $1.time }
        guard !known.isEmpty else { return "unknown" }
        return (known + (rest > duration / 100 ? ["unknown \(FigureText.figure(rest)) ms"] : [])).joined(
            separator: ", ")
    }
}

/// The looks of the side that took the time: the client is solid, the network hatched, the server plain.
enum SideStyle {
    /// - Parameters:
    ///   - x: where the bar begins, as a share of the picture's width; `width` is such a share too.
    ///   - y: the distance from the top in pixels; `height` is in pixels too.
    static func bar(
        _ side: PhaseSide, x: Double, y: Double = 0, width: Double, height: Double, radius: Double = 0
    ) -> HTML {
        shape(
            side,
            [
                Attribute("x", SVG.percent(x)), Attribute("y", SVG.number(y)),
                Attribute("width", SVG.percent(width)), Attribute("height", SVG.number(height)),
                Attribute("rx", SVG.number(radius)),
            ])
    }

    /// The names of the sides, each with its pattern.
    static var legend: HTML {
        element("p", .class("legend")) {
            for side in [PhaseSide.theirs, .way, .ours] {
                element("span") {
                    element("svg", Attribute("width", "12"), Attribute("height", "12"), .hidden) {
                        shape(
                            side,
                            [Attribute("width", "12"), Attribute("height", "12"), Attribute("rx", "2")])
                    }
                    name(of: side)
                }
            }
        }
    }

    static func name(of side: PhaseSide) -> String {
        switch side {
        case .ours: "client"
        case .way: "network"
        case .theirs: "server"
        }
    }

    /// The hatching is an attribute, because a style sheet cannot refer to a pattern of the page.
    private static func shape(_ side: PhaseSide, _ place: [Attribute]) -> HTML {
        switch side {
        case .ours: element("rect", [.class("p-ours")] + place) {}
        case .way: element("rect", [.class("p-way"), Attribute("fill", "url(#hatch)")] + place) {}
        case .theirs: element("rect", [.class("p-theirs")] + place) {}
        }
    }
}
