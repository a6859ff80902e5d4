import MartletStorage

/// Chunks of one tier whose end is in `(from, to]`.
struct ChunkRange: Equatable {
    var tier: Tier
    var isRolled: Bool
    /// Without those that were derived.
    var onlyDelivered: Bool
    var from: Int64
    var to: Int64
}

/// Which chunks make up a window, so that each point that was delivered counts once and at the coarsest resolution that fits.
/// Pure.
///
/// What is not rolled up is nowhere else and counts by its own end. What is rolled up is in the tier above as well: that
/// counts where a slot lies wholly within the window, and the finer one at the window's edges. Where the finer one has
/// expired, a slot counts by its end.
struct WindowRanges {
    private let window: (from: Int64, to: Int64)
    private let expired: ExpiredTimes
    private(set) var ranges: [ChunkRange] = []

    init(_ window: TimeWindow, expired: ExpiredTimes) {
        self.window = (Int64(clamping: window.from), Int64(clamping: window.to))
        self.expired = expired
        let hours = core(of: .hour, finerExpired: expired.minutes)
        let minutes = core(of: .minute, finerExpired: expired.tenSeconds)

        add(.hour, isRolled: false, to: hours)
        for edge in without(hours) { add(.hour, isRolled: false, onlyDelivered: true, to: edge) }

        add(.minute, isRolled: false, to: minutes)
        for edge in without(minutes) { add(.minute, isRolled: false, onlyDelivered: true, to: edge) }
        for part in without(hours) {
            addRolledMinutes(in: part, derivedWithin: minutes)
        }

        add(.tenSeconds, isRolled: false, to: self.window)
        for edge in without(minutes) {
            add(.tenSeconds, isRolled: true, to: (max(edge.from, expired.tenSeconds), edge.to))
        }
    }

    private typealias Part = (from: Int64, to: Int64)

    /// The part of the window that is counted by slots of a tier; empty where `from` is not before `to`.
    private func core(of tier: Tier, finerExpired: Int64) -> Part {
        let first = tier.slotEnd(of: window.from)
        // A chunk may end within its slot (see ``RollUp``), and is told of by nothing finer then either.
        let isLastExpired = tier.slotEnd(of: window.to) <= finerExpired
        return (
            first <= finerExpired ? window.from : first,
            isLastExpired ? window.to : tier.slotEnd(notAfter: window.to)
        )
    }

    /// The window without a core.
    private func without(_ core: Part) -> [Part] {
        guard core.from < core.to else { return [window] }
        return [(window.from, core.from), (core.to, window.to)]
    }

    private mutating func addRolledMinutes(in part: Part, derivedWithin minutes: Part) {
        let from = max(part.from, expired.minutes)
        let first = min(max(from, minutes.from), part.to)
        let last = max(min(part.to, minutes.to), first)
        add(.minute, isRolled: true, onlyDelivered: true, to: (from, first))
        add(.minute, isRolled: true, to: (first, last))
        add(.minute, isRolled: true, onlyDelivered: true, to: (last, part.to))
    }

    private mutating func add(_ tier: Tier, isRolled: Bool, onlyDelivered: Bool = false, to part: Part) {
        guard part.from < part.to else { return }
        ranges.append(
            ChunkRange(tier: tier, isRolled: isRolled, onlyDelivered: onlyDelivered, from: part.from, to: part.to))
    }
}

/// Up to when what was rolled up has been deleted, or may be at any moment: whole slots of the tier above.
struct ExpiredTimes: Equatable {
    var tenSeconds: Int64 = 0
    var minutes: Int64 = 0
}
