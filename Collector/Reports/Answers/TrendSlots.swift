import MartletStorage
import MartletTelemetry

/// The slots of a report as rates for a trend. Steady traffic becomes a flat line.
///
/// The window cuts the first and the last slot short, so the trend shows rates instead of counts. A sender's interval counts in
/// the slot in which it ends, so a rate over only a few intervals may be far off. Therefore a slot that is cut to less than a
/// minute is joined to its neighbour. If all slots are as short as intervals, it is left out.
struct TrendSlots {
    /// The shortest part of a slot that gets a separate rate, in nanoseconds.
    private static let shortestPart: UInt64 = 6 * TrendStep.shortest
    /// How long the latest requests take to arrive, in nanoseconds: an agent's interval, and as long again for the network.
    private static let arrival: UInt64 = 2 * TrendStep.shortest

    /// The slots that each rate covers, and their length in seconds; `nil` if the times of the slots are unknown.
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

    /// Returns the requests per second over time. If no rate would show any of the requests, returns the requests of each slot.
    ///
    /// - Parameter counts: the requests in each slot of the report.
    func rates(of counts: [UInt64]) -> [Double] {
        guard let blocks, counts.count == slots else { return counts.map { Double($0) } }
        let rates = blocks.map { block in counts[block.slots].reduce(0) { $0 + Double($1) } / block.seconds }
        return rates.contains { $0 > 0 } ? rates : counts.map { Double($0) }
    }

    /// Returns the window up to the latest request, if later requests may still be on their way.
    private static func window(of report: Report) -> TimeWindow? {
        guard let from = TimeText.parse(report.from, now: 0), let to = TimeText.parse(report.to, now: 0), from < to
        else { return nil }
        let latest = report.totals.lastSeen.flatMap { TimeText.parse($0, now: 0) } ?? to
        let isLate = from < latest && latest < to && to - latest <= arrival
        return TimeWindow(from: from, to: isLate ? latest : to)
    }
}

extension SlotGrid {
    /// The slots of each block, in order. A slot that the window cuts to less than half joins the neighbouring block, so no
    /// request is left out.
    package var blocks: [Range<Int>] { blocks(ofAtLeast: step - step / 2) }

    /// Returns the slots of each block, in order. A slot that the window cuts to less than `length` nanoseconds joins the
    /// neighbouring block.
    func blocks(ofAtLeast length: UInt64) -> [Range<Int>] {
        guard count > 0 else { return [] }
        var blocks = (0..<count).map { $0..<$0 + 1 }
        if isCut(slot: count - 1, below: length), blocks.count > 1 {
            blocks.removeLast()
            blocks[blocks.count - 1] = count - 2..<count
        }
        if isCut(slot: 0, below: length), blocks.count > 1 {
            blocks.removeFirst()
            blocks[0] = 0..<blocks[0].upperBound
        }
        return blocks
    }

    private func isCut(slot index: Int, below length: UInt64) -> Bool {
        window(ofSlot: index).length < min(step, length)
    }
}
