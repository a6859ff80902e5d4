/// The ranges of chunks that make up a window. A chunk is a row of a store with the points of one sender whose intervals end at
/// the same time. Each delivered point is counted once, at the coarsest resolution that fits. Pure.
///
/// A chunk that has not been rolled up is the only copy of its points, and is counted if its end lies in the window. The points
/// of a rolled-up chunk are also in the tier above. The coarser chunk is counted if its slot lies wholly within the window; at
/// the window's edges, the finer chunks are counted instead. If these have expired, the window grows to the whole slots that it
/// touches, so that its figures match its time.
package struct WindowRanges: Sendable {
    /// The query's window, or a wider one.
    package let window: TimeWindow
    private let whole: Part
    private let expired: ExpiredTimes
    /// The parts of the window that are counted from summaries.
    private var summaries: [Part] = []
    package private(set) var ranges: [ChunkRange] = []

    /// - Parameters:
    ///   - step: the granularity of the slots to distinguish, in nanoseconds, from ``SlotGrid``; `nil` to count the window as a
    ///     whole. A chunk longer than a slot counts only if no finer chunk has its points.
    ///   - hasSummaries: whether summaries replace points of minutes where both exist: see ``SummarySlot``.
    package init(_ window: TimeWindow, expired: ExpiredTimes, step: UInt64? = nil, hasSummaries: Bool = false) {
        whole = (
            expired.slotStart(notAfter: Int64(clamping: window.from)),
            expired.slotEnd(notBefore: Int64(clamping: window.to))
        )
        self.window = TimeWindow(from: UInt64(clamping: whole.from), to: UInt64(clamping: whole.to))
        self.expired = expired
        let hours = core(of: .hour, step)
        let minutes = core(of: .minute, step)
        if hasSummaries, step.map({ $0 % UInt64(SummarySlot.length) == 0 }) ?? true {
            summaries = without(hours).map { summarized($0, within: minutes) }.filter { $0.from < $0.to }
        }

        add(.hour, isRolled: false, to: hours)
        for edge in without(hours) { add(.hour, isRolled: false, .delivered, to: edge) }

        addMinutes(isRolled: false, to: minutes)
        for edge in without(minutes) { add(.minute, isRolled: false, .delivered, to: edge) }
        for part in without(hours) {
            addRolledMinutes(in: part, derivedWithin: minutes)
        }
        for part in summaries { add(.minute, isRolled: false, .summaries, to: part) }

        add(.fine, isRolled: false, to: whole)
        for edge in without(minutes) {
            add(.fine, isRolled: true, to: (max(edge.from, expired.fine), edge.to))
        }
    }

    /// Returns the ranges of the chunks that make up the slots of a window. If a long slot begins within a minute or an hour, it is
    /// read as a separate window, because it contains whole minutes or hours.
    package static func ranges(
        of grid: SlotGrid, expired: ExpiredTimes, hasSummaries: Bool = false
    ) -> [ChunkRange] {
        let granularity = grid.granularity
        let coarser = [Tier.minute, .hour].map { UInt64($0.length) }.first { granularity % $0 > 0 }
        guard let coarser, grid.step >= 2 * coarser else {
            return WindowRanges(grid.window, expired: expired, step: granularity, hasSummaries: hasSummaries).ranges
        }
        return (0..<grid.count).flatMap {
            WindowRanges(grid.window(ofSlot: $0), expired: expired, hasSummaries: hasSummaries).ranges
        }
    }

    private typealias Part = (from: Int64, to: Int64)

    /// Returns the part of the window that is counted from slots of this tier; empty if `from` is not before `to`.
    private func core(of tier: Tier, _ step: UInt64?) -> Part {
        if let step, step % UInt64(tier.length) > 0 { return (whole.from, whole.from) }
        return (tier.slotEnd(of: whole.from), tier.slotEnd(notAfter: whole.to))
    }

    /// Returns the window without this core.
    private func without(_ core: Part) -> [Part] {
        guard core.from < core.to else { return [whole] }
        return [(whole.from, core.from), (core.to, whole.to)]
    }

    private mutating func addRolledMinutes(in part: Part, derivedWithin minutes: Part) {
        let from = max(part.from, expired.minutes)
        let first = min(max(from, minutes.from), part.to)
        let last = max(min(part.to, minutes.to), first)
        add(.minute, isRolled: true, .delivered, to: (from, first))
        addMinutes(isRolled: true, to: (first, last))
        add(.minute, isRolled: true, .delivered, to: (last, part.to))
    }

    /// Returns the whole summary slots of a part, among those counted from minutes.
    private func summarized(_ part: Part, within minutes: Part) -> Part {
        let from = max(part.from, minutes.from, expired.minutes, expired.summaries)
        return (SummarySlot.end(notBefore: from), SummarySlot.end(notAfter: min(part.to, minutes.to)))
    }

    /// Adds chunks of minutes. Where there are summaries, it adds only chunks that no summary includes.
    private mutating func addMinutes(isRolled: Bool, to part: Part) {
        var from = part.from
        for summary in summaries where summary.to > part.from && summary.from < part.to {
            add(.minute, isRolled: isRolled, to: (from, summary.from))
            let summarized = (from: max(from, summary.from), to: min(part.to, summary.to))
            add(.minute, isRolled: isRolled, .unsummarized, to: summarized)
            add(.minute, isRolled: isRolled, .unsummarizable, to: summarized)
            from = summarized.to
        }
        add(.minute, isRolled: isRolled, to: (from, part.to))
    }

    private mutating func add(_ tier: Tier, isRolled: Bool, _ contents: ChunkRange.Contents = .all, to part: Part) {
        guard part.from < part.to else { return }
        ranges.append(
            ChunkRange(tier: tier, isRolled: isRolled, contents: contents, from: part.from, to: part.to))
    }
}

/// The chunks of one tier that end in `(from, to]`.
package struct ChunkRange: Sendable, Equatable {
    package enum Contents: Sendable {
        case all
        /// Chunks as they arrived, without those rolled up from the tier below.
        case delivered
        /// Chunks without a summary yet.
        case unsummarized
        /// Chunks that summaries leave out.
        case unsummarizable
        /// Summaries in place of the chunks of minutes: see ``SummarySlot``.
        case summaries
    }

    package var tier: Tier
    /// Whether the chunks have been rolled up. Has no meaning for summaries.
    package var isRolled: Bool
    package var contents: Contents
    package var from: Int64
    package var to: Int64
}
