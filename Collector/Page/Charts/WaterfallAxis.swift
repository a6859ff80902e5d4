import Foundation
import MartletReports

/// The time from left to right in all rows of a waterfall, in milliseconds.
struct WaterfallAxis {
    /// Room after the last end, as a share of the time.
    private static let margin = 0.02
    private static let fewestSteps = 4.0

    /// The time at the right edge.
    let scale: Double

    /// - Parameter end: the time at which the last bar ends.
    init(upTo end: Double) {
        scale = end.isFinite && end > 0 ? end * (1 + Self.margin) : 1
    }

    /// Returns a time as a share of the width.
    func share(_ time: Double) -> Double { time.isFinite ? min(max(0, time / scale), 1) : 0 }

    /// Round times from 0 on, five at most.
    var ticks: [Double] {
        let least = scale / Self.fewestSteps
        let power = pow(10, log10(least).rounded(.down))
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= least } ?? least
        return Array(stride(from: 0, through: scale, by: step))
    }

    /// The figures above the bars.
    var head: HTML {
        let ticks = ticks
        return SVG.wide("axis", height: 16, .hidden) {
            for (index, tick) in ticks.enumerated() {
                let unit = index == ticks.count - 1 ? " ms" : ""
                Self.text(
                    FigureText.figure(tick) + unit, x: share(tick), y: 12,
                    anchor: index == 0 ? "start" : share(tick) > 0.93 ? "end" : "middle")
            }
        }
    }

    /// The lines behind the bars of a row.
    ///
    /// - Parameter end: the pixel at which they end, which may be below the picture: a row is as high as its text.
    func grid(to end: Double) -> HTML {
        HTML.joined(
            ticks.dropFirst().map { tick in
                let x = SVG.percent(share(tick))
                return element(
                    "line", .class("grid"), Attribute("x1", x), Attribute("x2", x), Attribute("y1", "-14"),
                    Attribute("y2", SVG.number(end))
                ) {}
            })
    }

    /// - Parameter anchor: the part of the text that is at `x`: `start`, `middle` or `end`.
    static func text(
        _ text: String, x: Double, y: Double, anchor: String, class name: String? = nil
    ) -> HTML {
        element(
            "text",
            (name.map { [.class($0)] } ?? []) + [
                Attribute("x", SVG.percent(x)), Attribute("y", SVG.number(y)), Attribute("text-anchor", anchor),
            ]
        ) { text }
    }
}
