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
/// expired, the window takes in the whole of the slots that it touches, so that its figures are of its time.
struct WindowRanges {
    /// What was asked for, or a wider one.
    let window: TimeWindow
    private let whole: Part
    private let expired: ExpiredTimes
    private(set) var ranges: [ChunkRange] = []

    init(_ window: TimeWindow, expired: ExpiredTimes) {
        whole = (
            expired.slotStart(notAfter: Int64(clamping: window.from)),
            expired.slotEnd(notBefore: Int64(clamping: window.to))
        )
        self.window = TimeWindow(from: UInt64(clamping: whole.from), to: UInt64(clamping: whole.to))
        self.expired = expired
        let hours = core(of: .hour)
        let minutes = core(of: .minute)

        add(.hour, isRolled: false, to: hours)
        for edge in without(hours) { add(.hour, isRolled: false, onlyDelivered: true, to: edge) }

        add(.minute, isRolled: false, to: minutes)
        for edge in without(minutes) { add(.minute, isRolled: false, onlyDelivered: true, to: edge) }
        for part in without(hours) {
            addRolledMinutes(in: part, derivedWithin: minutes)
        }

        add(.tenSeconds, isRolled: false, to: whole)
        for edge in without(minutes) {
            add(.tenSeconds, isRolled: true, to: (max(edge.from, expired.tenSeconds), edge.to))
        }
    }

    private typealias Part = (from: Int64, to: Int64)

    /// The part of the window that is counted by slots of a tier; empty where `from` is not before `to`.
    private func core(of tier: Tier) -> Part {
        (tier.slotEnd(of: whole.from), tier.slotEnd(notAfter: whole.to))
    }

    /// The window without a core.
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

/// Up to when what was rolled up has been deleted, or may be at any moment: whole slots of the tier above.
struct ExpiredTimes: Equatable {
    var tenSeconds: Int64 = 0
    var minutes: Int64 = 0

    /// `time`, or the start of the slot that it lies in where nothing finer is left.
    func slotStart(notAfter time: Int64) -> Int64 { finest(at: time)?.slotEnd(notAfter: time) ?? time }

    /// `time`, or the end of the slot that it lies in where nothing finer is left.
    func slotEnd(notBefore time: Int64) -> Int64 { finest(at: time)?.slotEnd(of: time) ?? time }

    /// `nil` where points are left as they came.
    private func finest(at time: Int64) -> Tier? {
        if time < minutes { return .hour }
        return time < tenSeconds ? .minute : nil
    }
}
