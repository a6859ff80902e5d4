import MartletStorage
import MartletTelemetry

/// The slots of a report that a trend is drawn of, so that traffic without a change is an even line.
///
/// The window cuts the first and the last slot, so rates are drawn, and not counts. A sender's interval counts where it ends, so
/// a rate over a few intervals is off by much: a part of a slot that is shorter than a minute is joined to its neighbour. Where
/// the slots are as short as intervals, it is left out.
struct TrendSlots {
    /// The shortest part of a slot that has a rate of its own, in nanoseconds.
    private static let shortestPart: UInt64 = 6 * TrendStep.shortest
    /// The time that the latest requests take to arrive, in nanoseconds: an agent's interval, and as long for its way.
    private static let arrival: UInt64 = 2 * TrendStep.shortest

    /// The slots that each rate is of, and their seconds; `nil` if the times of the slots are not known.
    private let blocks: [(slots: Range<Int>, seconds: Double)]?
    /// The number of the report's slots.
    private let slots: Int

    init(of report: Report) {
        slots = report.rows.first?.trend?.count.count ?? 0
        let step = report.step.flatMap { UInt64(exactly: ($0 * 1e9).rounded()) } ?? 0
        guard step > 0, let window = Self.window(of: report) else {
            blocks = nil
            return
        }
        let grid = SlotGrid(window, step: step, expired: ExpiredTimes(fine: 0, minutes: 0))
        blocks = grid.count <= slots ? Self.blocks(of: grid) : nil
    }

    private static func blocks(of grid: SlotGrid) -> [(slots: Range<Int>, seconds: Double)] {
        let blocks = grid.blocks(ofAtLeast: max(shortestPart, grid.step - grid.step / 2))
            .map { (slots: $0, seconds: grid.window(ofSlots: $0).seconds) }
        guard grid.step < 2 * TrendStep.shortest else { return blocks }
        return (0..<grid.count).map { ($0..<$0 + 1, grid.window(ofSlot: $0).seconds) }
            .filter { $0.1 >= Double(grid.step) / 1e9 }
    }

    /// Returns the requests per second over time; the requests of each slot if nothing else shows that there are any.
    ///
    /// - Parameter counts: the requests in each slot of the report.
    func rates(of counts: [UInt64]) -> [Double] {
        guard let blocks, counts.count == slots else { return counts.map { Double($0) } }
        let rates = blocks.map { block in counts[block.slots].reduce(0) { $0 + Double($1) } / block.seconds }
        return rates.contains { $0 > 0 } ? rates : counts.map { Double($0) }
    }

    /// Returns the window up to the latest request, if later ones may be on their way.
    private static func window(of report: Report) -> TimeWindow? {
        guard let from = TimeText.parse(report.from, now: 0), let to = TimeText.parse(report.to, now: 0), from < to
        else { return nil }
        let latest = report.totals.lastSeen.flatMap { TimeText.parse($0, now: 0) } ?? to
        let isLate = from < latest && latest < to && to - latest <= arrival
        return TimeWindow(from: from, to: isLate ? latest : to)
    }
}

/// The length of the slots in which a window is shown over time.
package enum TrendStep {
    /// The shortest slot, in nanoseconds: an agent's interval.
    package static let shortest: UInt64 = 10_000_000_000
    /// The scale of distributions in slots of which only a line is drawn: quantiles are within 2.2 %.
    package static let scale: Int32 = 4
    /// The lengths to choose from, in seconds. Each divides the hour or the day, and those above a minute are whole slots of
    /// summaries, so that stored slots fit.
    private static let seconds: [UInt64] = [10, 30, 60, 180, 360, 720, 1800, 3600, 10_800, 21_600, 43_200, 86_400]

    /// Returns the shortest length that cuts the window into at most `slots` whole slots, in nanoseconds; a multiple of a day
    /// if no shorter one does.
    package static func fitting(_ window: TimeWindow, slots: UInt64 = 60) -> UInt64 {
        let wanted = (window.length + slots - 1) / slots
        let day: UInt64 = 86_400_000_000_000
        return seconds.lazy.map { $0 * 1_000_000_000 }.first { $0 >= wanted } ?? (wanted + day - 1) / day * day
    }
}
