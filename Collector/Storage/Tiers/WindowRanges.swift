/// The ranges of chunks that make up a window. A chunk is a row of a store with points whose intervals end at the same time, of one
/// sender or of one version of a service. Each delivered point is counted once, at the coarsest resolution that fits. Pure.
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
    package private(set) var ranges: [ChunkRange] = []

    /// - Parameters:
    ///   - step: the granularity of the slots to distinguish, in nanoseconds, from ``SlotGrid``; `nil` to count the window as a
    ///     whole. A chunk longer than a slot counts only if no finer chunk has its points.
    ///   - hasSenders: whether chunks of senders are counted in place of those of versions, as long as they are kept.
    package init(_ window: TimeWindow, expired: ExpiredTimes, step: UInt64? = nil, hasSenders: Bool = false) {
        whole = (
            expired.slotStart(notAfter: Int64(clamping: window.from)),
            expired.slotEnd(notBefore: Int64(clamping: window.to))
        )
        self.window = TimeWindow(from: UInt64(clamping: whole.from), to: UInt64(clamping: whole.to))
        self.expired = expired
        addSenders(hours: core(of: .hour, step), minutes: core(of: .minute, step))
        let end = hasSenders ? expired.fine : .max
        addVersions(
            days: core(of: .day, step, until: end), hours: core(of: .hour, step, until: end),
            minutes: core(of: .minute, step, until: end))
    }

    /// Returns the ranges of the chunks that make up the slots of a window. If a long slot begins within a minute, an hour or a
    /// day, it is read as a separate window, because it contains whole ones.
    package static func ranges(
        of grid: SlotGrid, expired: ExpiredTimes, hasSenders: Bool = false
    ) -> [ChunkRange] {
        let granularity = grid.granularity
        let coarser = [Tier.minute, .hour, .day].map { UInt64($0.length) }.first { granularity % $0 > 0 }
        guard let coarser, grid.step >= 2 * coarser else {
            return WindowRanges(grid.window, expired: expired, step: granularity, hasSenders: hasSenders).ranges
        }
        return (0..<grid.count).flatMap {
            WindowRanges(grid.window(ofSlot: $0), expired: expired, hasSenders: hasSenders).ranges
        }
    }

    private typealias Part = (from: Int64, to: Int64)

    /// Returns the part of the window that is counted from slots of this tier; empty if `from` is not before `to`.
    private func core(of tier: Tier, _ step: UInt64?, until end: Int64 = .max) -> Part {
        if let step, step % UInt64(tier.length) > 0 { return (whole.from, whole.from) }
        return (tier.slotEnd(of: whole.from), tier.slotEnd(notAfter: min(whole.to, end)))
    }

    /// Returns the window without this core.
    private func without(_ core: Part) -> [Part] {
        guard core.from < core.to else { return [whole] }
        return [(whole.from, core.from), (core.to, whole.to)]
    }

    /// Adds the chunks of senders that no version has, or that are rolled up to other chunks of their sender.
    private mutating func addSenders(hours: Part, minutes: Part) {
        add(.hour, .open, to: hours)
        for edge in without(hours) { add(.hour, .open, .delivered, to: edge) }

        add(.minute, .open, to: minutes)
        for edge in without(minutes) { add(.minute, .open, .delivered, to: edge) }
        for part in without(hours) { addRolledMinutes(in: part, derivedWithin: minutes) }

        add(.fine, .open, to: whole)
        for edge in without(minutes) { add(.fine, .rolled, to: (max(edge.from, expired.fine), edge.to)) }
    }

    private mutating func addRolledMinutes(in part: Part, derivedWithin minutes: Part) {
        let from = max(part.from, expired.minutes)
        let first = min(max(from, minutes.from), part.to)
        let last = max(min(part.to, minutes.to), first)
        add(.minute, .rolled, .delivered, to: (from, first))
        add(.minute, .rolled, to: (first, last))
        add(.minute, .rolled, .delivered, to: (last, part.to))
    }

    /// Adds the chunks of versions, and those of senders that a version has as well.
    private mutating func addVersions(days: Part, hours: Part, minutes: Part) {
        add(.day, .open, .ofVersions, to: days)
        add(.hour, .open, .ofVersions, to: hours)
        for part in without(days) {
            add(.hour, .rolled, .ofVersions, to: (max(part.from, hours.from), min(part.to, hours.to)))
        }
        add(.minute, .open, .ofVersions, to: minutes)
        for part in without(hours) {
            let within = (from: max(part.from, minutes.from, expired.minutes), to: min(part.to, minutes.to))
            add(.minute, .rolled, .ofVersions, to: within)
            add(.hour, .inVersion, to: (max(part.from, expired.minutes), part.to))
        }
        for edge in without(minutes) {
            let kept = (from: max(edge.from, expired.fine), to: edge.to)
            for tier in [Tier.fine, .minute] { add(tier, .inVersion, to: kept) }
        }
    }

    private mutating func add(
        _ tier: Tier, _ state: ChunkState, _ contents: ChunkRange.Contents = .all, to part: Part
    ) {
        guard part.from < part.to else { return }
        ranges.append(ChunkRange(tier: tier, state: state, contents: contents, from: part.from, to: part.to))
    }
}

/// Which other chunk has the points of a chunk. Stores keep the raw value.
package enum ChunkState: Int, Sendable, CaseIterable {
    /// None.
    case open = 0
    /// One of the tier above.
    case rolled = 1
    /// One of the sender's version: of minutes, or of hours if the chunk's interval is as long.
    case inVersion = 2
}

/// The chunks of one tier that end in `(from, to]`.
package struct ChunkRange: Sendable, Equatable {
    package enum Contents: Sendable {
        /// Chunks of senders.
        case all
        /// Chunks of senders as they arrived, without those rolled up from the tier below.
        case delivered
        /// Chunks of versions.
        case ofVersions
    }

    package var tier: Tier
    package var state: ChunkState
    package var contents: Contents
    package var from: Int64
    package var to: Int64
}
