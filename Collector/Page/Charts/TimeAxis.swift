import MartletStorage
import MartletTelemetry

/// The horizontal axis of a chart: a window of time. Positions are shares of the chart's width, 0...1.
struct TimeAxis: Sendable {
    /// Labels at most: five stand side by side on a phone.
    private static let maxTicks: UInt64 = 5
    /// Steps between labels, in seconds.
    private static let steps: [UInt64] = [
        10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
    ]

    struct Tick: Sendable, Equatable {
        let x: Double
        let label: String
        /// The side on which the label stands, so that it stays in the picture.
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

    /// Midnight and whole days are named by their date.
    private func label(_ time: UnixNanoseconds, _ step: UInt64) -> String {
        let day: UInt64 = 86_400_000_000_000
        let isMidnight = time % day == 0
        return isMidnight && window.length > day / 2 ? ClockText.day(time) : ClockText.time(time)
    }

    /// The labels under a chart and its marks.
    ///
    /// - Parameters:
    ///   - height: the height of the chart without the labels, in pixels.
    ///   - namesTimes: whether the times are named, which the lower of two charts needs.
    ///   - namesMarks: whether the marks are named, which the upper of two charts needs.
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
    /// The room that the label of a mark takes, as a share of the width.
    private static let room = 0.2

    let time: UnixNanoseconds
    let label: String

    /// Returns the labels that have room beside each other, with their places. The first of some that stand close together
    /// names the number of the others.
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
