/// The ranges of chunks that make up a window. A chunk is the points of one sender and one end of interval, in one row of a
/// store. Each delivered point counts once, at the coarsest resolution that fits. Pure.
///
/// A chunk that is not rolled up is the only copy of its points and counts by its own end. The points of a rolled-up chunk
/// are in the tier above as well: the coarser chunk counts if its slot lies wholly within the window, and the finer one at
/// the window's edges. If the finer one has expired, the window grows to the whole slots that it touches, so that its figures
/// match its time.
package struct WindowRanges: Sendable {
    /// The window of the query, or a wider one.
    package let window: TimeWindow
    private let whole: Part
    private let expired: ExpiredTimes
    package private(set) var ranges: [ChunkRange] = []

    /// - Parameter step: the granularity of the slots that the chunks are told apart by, in nanoseconds, which ``SlotGrid``
    ///   gave; `nil` to count the window as a whole. A chunk that is longer than a slot counts only if nothing finer has its
    ///   points.
    package init(_ window: TimeWindow, expired: ExpiredTimes, step: UInt64? = nil) {
        whole = (
            expired.slotStart(notAfter: Int64(clamping: window.from)),
            expired.slotEnd(notBefore: Int64(clamping: window.to))
        )
        self.window = TimeWindow(from: UInt64(clamping: whole.from), to: UInt64(clamping: whole.to))
        self.expired = expired
        let hours = core(of: .hour, step)
        let minutes = core(of: .minute, step)

        add(.hour, isRolled: false, to: hours)
        for edge in without(hours) { add(.hour, isRolled: false, onlyDelivered: true, to: edge) }

        add(.minute, isRolled: false, to: minutes)
        for edge in without(minutes) { add(.minute, isRolled: false, onlyDelivered: true, to: edge) }
        for part in without(hours) {
            addRolledMinutes(in: part, derivedWithin: minutes)
        }

        add(.fine, isRolled: false, to: whole)
        for edge in without(minutes) {
            add(.fine, isRolled: true, to: (max(edge.from, expired.fine), edge.to))
        }
    }

    /// Returns the ranges of the chunks that make up the slots of a window. Slots that begin within a minute or an hour, and are
    /// longer, are read as windows of their own, because whole minutes or hours lie within them.
    package static func ranges(of grid: SlotGrid, expired: ExpiredTimes) -> [ChunkRange] {
        let granularity = grid.granularity
        let coarser = [Tier.minute, .hour].map { UInt64($0.length) }.first { granularity % $0 > 0 }
        guard let coarser, grid.step >= 2 * coarser else {
            return WindowRanges(grid.window, expired: expired, step: granularity).ranges
        }
        return (0..<grid.count).flatMap { WindowRanges(grid.window(ofSlot: $0), expired: expired).ranges }
    }

    private typealias Part = (from: Int64, to: Int64)

    /// Returns the part of the window that is counted by slots of a tier; empty if `from` is not before `to`.
    private func core(of tier: Tier, _ step: UInt64?) -> Part {
        if let step, step % UInt64(tier.length) > 0 { return (whole.from, whole.from) }
        return (tier.slotEnd(of: whole.from), tier.slotEnd(notAfter: whole.to))
    }

    /// Returns the window without a core.
    private func without(_ core: Part) -> [Part] {
        guard core.from < core.to else { return [whole] }
        return [(whole.from, core.from), (core.to, whole.to)]
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
