import Foundation
import MartletReports
import MartletStorage
import MartletTelemetry

/// The horizontal axis of a chart, which is a time window. Positions are shares of the chart's width, 0...1.
struct TimeAxis: Sendable {
    /// The maximum number of labels: five fit side by side on a phone.
    private static let maxTicks: UInt64 = 5
    /// Steps between labels, in seconds.
    private static let steps: [UInt64] = [
        10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
    ]

    struct Tick: Sendable, Equatable {
        let x: Double
        let label: String
        /// How the label is aligned, so that it stays in the picture.
        var anchor: SVG.Anchor { x < 0.04 ? .start : x > 0.96 ? .end : .middle }
    }

    let window: TimeWindow
    let marks: [TimeMark]

    init(_ window: TimeWindow, marks: [TimeMark] = []) {
        self.window = window
        self.marks = marks
    }

    func x(_ time: UnixNanoseconds) -> Double {
        guard window.to > window.from else { return 0 }
        return Double(min(max(time, window.from), window.to) - window.from) / Double(window.to - window.from)
    }

    /// The labels at round times.
    var ticks: [Tick] {
        let step = self.step
        guard window.to > window.from else { return [] }
        return (window.from / step...window.to / step).compactMap { number in
            let time = number * step
            return time < window.from ? nil : Tick(x: x(time), label: label(time, step))
        }
    }

    private var step: UInt64 {
        let (second, day) = (1_000_000_000 as UInt64, 86_400_000_000_000 as UInt64)
        let wanted = window.length / Self.maxTicks
        return Self.steps.lazy.map { $0 * second }.first { $0 >= wanted } ?? (wanted + day - 1) / day * day
    }

    /// Midnight and whole days are labelled with their date.
    private func label(_ time: UnixNanoseconds, _ step: UInt64) -> String {
        let day: UInt64 = 86_400_000_000_000
        let isMidnight = time % day == 0
        return isMidnight && window.length > day / 2 ? ClockText.day(time) : ClockText.time(time)
    }

    /// The labels under a chart and its marks.
    ///
    /// - Parameters:
    ///   - height: the height of the chart without the labels, in pixels.
    ///   - namesTimes: whether to label the times. Of two charts, one above the other, only the lower one does.
    ///   - namesMarks: whether to label the marks. Of two charts, one above the other, only the upper one does.
    func html(height: Double, namesTimes: Bool = true, namesMarks: Bool = true) -> HTML {
        HTML.joined(
            marks.map { SVG.upright("mark", x: x($0.time), height: height) }
                + (namesMarks ? markLabels : [])
                + (namesTimes ? ticks.map { SVG.text($0.label, x: $0.x, y: height + 15, anchor: $0.anchor) } : []))
    }

    private var markLabels: [HTML] {
        TimeMark.labels(of: marks.map { ($0.label, x($0.time)) }).map { label, x in
            x > 0.75
                ? SVG.text(label, x: x - 0.007, y: 9, anchor: .end, class: "marklabel halo")
                : SVG.text(label, x: x + 0.007, y: 9, class: "marklabel halo")
        }
    }
}

/// A moment that a chart marks, such as the first request of a version.
struct TimeMark: Sendable, Equatable {
    /// The width of a mark's label, as a share of the chart's width.
    private static let room = 0.2

    let time: UnixNanoseconds
    let label: String

    /// Returns the labels that fit next to each other, with their places. If several marks are close together, the label of the
    /// first one gives the number of the others.
    static func labels(of marks: [(label: String, x: Double)]) -> [(label: String, x: Double)] {
        var groups: [(label: String, x: Double, others: Int)] = []
        for mark in marks.sorted(by: { $0.x < $1.x }) {
            if let last = groups.last, mark.x - last.x < room {
                groups[groups.count - 1].others += 1
            } else {
                groups.append((mark.label, mark.x, 0))
            }
        }
        return groups.map { ($0.others > 0 ? "\($0.label) and \($0.others) more" : $0.label, $0.x) }
    }
}

/// The place of a slot's bar on the axis, as shares of its width.
struct BarPlace {
    /// The whole slot.
    let from: Double
    let width: Double
    /// The bar in the middle of the slot.
    let barFrom: Double
    let barWidth: Double

    /// - Parameter gap: the gap on each side of the bar, as a share of the slot.
    init(_ window: TimeWindow, _ axis: TimeAxis, gap: Double = 0.1) {
        from = axis.x(window.from)
        width = axis.x(window.to) - from
        barFrom = from + width * gap
        barWidth = width * (1 - 2 * gap)
    }
}

/// The vertical axis of a chart, from 0 or from the smallest value upwards. Places are pixels from the top.
struct ValueScale: Sendable {
    struct Tick: Sendable, Equatable {
        let value: Double
        let y: Double
    }

    /// The places of the axis's two ends.
    let top: Double
    let bottom: Double
    private let range: ClosedRange<Double>
    private let isLogarithmic: Bool
    private let values: [Double]

    /// An axis from 0 to a round number that is at least every value. If all values are 0, it goes to 1.
    ///
    /// - Parameters:
    ///   - least: the minimum upper end of the axis. With the default, its labels have the four decimal places of
    ///     ``Figure/tick(_:)``.
    ///   - isBinary: whether the numbers are round in units of bytes, each of which is 1024 of the one before.
    static func linear(
        _ values: [Double], top: Double, bottom: Double, least: Double = 3e-4, isBinary: Bool = false
    ) -> ValueScale {
        let largest = values.filter(\.isFinite).max() ?? 0
        let most = largest > 0 ? max(largest, least) : 1
        let unit = isBinary ? pow(1024, (log2(max(most, 1)) / 10).rounded(.down)) : 1
        let step = RoundNumber.notBelow(most / unit / 3) * unit
        let steps = max(1, (most / step - 1e-9).rounded(.up))
        return ValueScale(
            top: top, bottom: bottom, range: 0...(steps * step), isLogarithmic: false,
            values: (0...Int(steps)).map { Double($0) * step })
    }

    /// A logarithmic axis between round numbers.
    static func logarithmic(_ values: [Double], top: Double, bottom: Double) -> ValueScale {
        let known = values.filter { $0.isFinite && $0 > 0 }
        let least = RoundNumber.notAbove(min(max(known.min() ?? 1, 1e-6), 1e15))
        let most = max(RoundNumber.notBelow(min(max(known.max() ?? 10, 1e-6), 1e15)), least * 2)
        var ticks = RoundNumber.all(from: least, to: most, digits: [1, 2, 5])
        if ticks.count > 7 { ticks = RoundNumber.all(from: least, to: most, digits: [1]) }
        let every = (ticks.count + 6) / 7
        return ValueScale(
            top: top, bottom: bottom, range: least...most, isLogarithmic: true,
            values: ticks.enumerated().filter { $0.offset % max(1, every) == 0 }.map(\.element))
    }

    var ticks: [Tick] { values.map { Tick(value: $0, y: y($0)) } }

    /// Returns the place of a value. A value outside the axis is placed at an end, and so is one that is not a number.
    func y(_ value: Double) -> Double { bottom - share(value) * (bottom - top) }

    private func share(_ value: Double) -> Double {
        guard value > range.lowerBound else { return 0 }
        guard value < range.upperBound else { return 1 }
        guard isLogarithmic else { return value / range.upperBound }
        return log(value / range.lowerBound) / log(range.upperBound / range.lowerBound)
    }
}

/// Numbers with a single digit other than 0: 1, 2 and 5 times powers of ten.
private enum RoundNumber {
    private static let tolerance = 1e-9

    static func notBelow(_ value: Double) -> Double {
        let power = power(below: value)
        return ([1, 2, 5, 10] as [Double]).map { $0 * power }.first { $0 >= value * (1 - tolerance) } ?? value
    }

    static func notAbove(_ value: Double) -> Double {
        let power = power(below: value)
        return ([10, 5, 2, 1] as [Double]).map { $0 * power }.first { $0 <= value * (1 + tolerance) } ?? value
    }

    static func all(from least: Double, to most: Double, digits: [Double]) -> [Double] {
        let exponents = Int(log10(least).rounded(.down))...Int(log10(most).rounded(.up))
        var numbers: [Double] = []
        for exponent in exponents {
            let power: Double = pow(10, Double(exponent))
            numbers += digits.map { $0 * power }
        }
        return numbers.filter { $0 >= least * (1 - tolerance) && $0 <= most * (1 + tolerance) }
    }

    private static func power(below value: Double) -> Double { pow(10, log10(value).rounded(.down)) }
}

/// The time axis shared by all rows of a waterfall, from left to right, in milliseconds.
struct WaterfallAxis {
    /// The space after the end of the last bar, as a share of the time.
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
        Array(stride(from: 0, through: scale, by: RoundNumber.notBelow(scale / Self.fewestSteps)))
    }

    /// The figures above the bars.
    var head: HTML {
        let ticks = ticks
        return SVG.wide("axis", height: 16, .hidden) {
            for (index, tick) in ticks.enumerated() {
                let unit = index == ticks.count - 1 ? " ms" : ""
                SVG.text(
                    FigureText.figure(tick) + unit, x: share(tick), y: 12,
                    anchor: index == 0 ? .start : share(tick) > 0.93 ? .end : .middle)
            }
        }
    }

    /// The lines behind the bars of a row.
    ///
    /// - Parameter end: the pixel at which the lines end. It may be below the picture, because a row is as high as its text.
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
}
