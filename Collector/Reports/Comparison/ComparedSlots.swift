import MartletStorage
import MartletTelemetry

/// The slots in which the rows of a comparison are counted: those of the compared window, and those before it. Pure.
struct ComparedSlots: Sendable, Equatable {
    /// The length of a slot, in nanoseconds: whole minutes.
    let step: UInt64
    /// The number of slots of the compared window, and of the window that it is compared with.
    let length: Int
    /// The compared window, from the slot border nearest to its start to the one nearest to its end.
    let after: TimeWindow
    /// The window that it is compared with, in whole slots. If pasts count, it begins where they end, or earlier.
    let before: TimeWindow
    /// Whether ``before`` is longer than the window before, because the rows' pasts end earlier.
    private let reachesBack: Bool
    /// Whether the compared window follows the other one at once.
    let isContiguous: Bool
    /// Whether the compared window is later than the other one.
    let isLater: Bool
    /// Whether rows are judged by their pasts: the windows follow each other, and are short.
    let pastsCount: Bool

    static let minute = UInt64(Tier.minute.length)
    private static let three = RowPast.slot
    private static let hour = UInt64(Tier.hour.length)
    private static let longestByPast = UInt64(VerdictConstants.longestByPast) * minute

    /// The length of a slot, in minutes.
    var stepMinutes: Int { Int(step / Self.minute) }
    /// The slots of a row.
    var slotsOfRow: Int { Int(clamping: (before.length + after.length) / step) }
    /// Whether minutes would show the time of a change better than these slots.
    var needMinutes: Bool { step > Self.minute && step == Self.three && after.length <= Self.longestByPast }
    /// The number of slots that are needed before ``before``: those of the windows that a window is compared with, while the state
    /// looks back by as much as a window (``VerdictState``).
    var slotsOfPast: Int {
        length * (WindowParts.referenceWindows(minutes: length * stepMinutes) + 1)
    }

    /// - Parameters:
    ///   - window: the window of a report.
    ///   - step: the length of a slot, in nanoseconds; `nil` for the usual one. The store has longer ones for old times.
    ///   - pastsCount: whether rows may be judged by their pasts.
    init(_ window: TimeWindow, _ base: ComparisonBase, step: UInt64? = nil, pastsCount: Bool = true) {
        let step = max(step ?? Self.step(for: window.length), Self.minute)
        let last = max(Self.border(nearest: window.to, step), 2)
        let first = max(min(Self.border(nearest: window.from, step), last - 1), 1)
        let end = Self.end(ofSlotsBefore: window, base, step, first: first, last: last)
        let isShort = window.length <= Self.longestByPast && Self.three.isMultiple(of: step)
        self.step = step
        length = Int(clamping: last - first)
        after = TimeWindow(from: first * step, to: last * step)
        isContiguous = base == .previous
        if case .versions = base { isLater = false } else { isLater = true }
        self.pastsCount = pastsCount && isContiguous && isShort
        let earlier = window.from - min(window.from, window.length)
        let start =
            isContiguous ? min(Self.border(nearest: earlier, step), first - 1) : end - min(end, last - first)
        let endOfPast = RowPast.end(before: after.from)
        reachesBack = self.pastsCount && endOfPast < start * step
        before = TimeWindow(from: reachesBack ? endOfPast : start * step, to: end * step)
    }

    /// Returns the end of the window that another one is compared with, as a number of slots since 1970.
    private static func end(
        ofSlotsBefore window: TimeWindow, _ base: ComparisonBase, _ step: UInt64, first: UInt64, last: UInt64
    ) -> UInt64 {
        switch base {
        case .previous: first
        case .earlier(let length): min(border(nearest: window.to - min(window.to, length), step), first)
        case .versions: last
        }
    }

    /// Returns the usual length of a slot.
    private static func step(for length: UInt64) -> UInt64 {
        guard length >= hour else { return minute }
        let wanted = max(length / UInt64(VerdictConstants.slotsOfLong) / three, 1) * three
        return length <= longestByPast ? three : wanted < hour ? wanted : wanted / hour * hour
    }

    /// Returns the nearest border as a number of slots since 1970.
    private static func border(nearest time: UnixNanoseconds, _ step: UInt64) -> UInt64 {
        let (before, rest) = time.quotientAndRemainder(dividingBy: step)
        // There is no border after the end of time.
        let isAfter = rest >= step - rest && !(before + 1).multipliedReportingOverflow(by: step).overflow
        return isAfter ? before + 1 : before
    }

    /// Returns the queries for the slots of rows, of the compared window and of the other one. Where possible they are about the
    /// same windows as the report, because a store then reads the points once.
    func queries(_ groups: WantedGroups, after: StatisticsQuery, before: StatisticsQuery) -> [StatisticsQuery] {
        var earlier = before.window
        if reachesBack { earlier.from = self.before.from }
        return [(after, after.window), (before, earlier)].map { query, window in
            var slots = StatisticsQuery(window: window, filter: query.filter, by: query.by, step: step)
            (slots.groups, slots.hasFigures, slots.slotScale) = (groups, false, TrendStep.scale)
            return slots
        }
    }
}

/// Two days of a row in slots of three minutes.
package struct RowPast: Sendable, Equatable {
    /// The durations above which requests are slow, in seconds: p50, p95 and p99 of the past, each rounded up to a bound of buckets,
    /// so that coarse and fine distributions are counted alike. Empty if there were no requests.
    package let bounds: [Double]
    package let history: RowHistory

    /// The past of a row that had no requests.
    static let none = RowPast(bounds: [], slots: [])

    /// The length of a slot, in nanoseconds.
    static let slot = 3 * UInt64(Tier.minute.length)
    static let slotMinutes = Int64(slot) / Tier.minute.length
    private static let hour: UInt64 = 3_600_000_000_000

    /// Returns the end of the past of a window: a full hour.
    static func end(before start: UnixNanoseconds) -> UnixNanoseconds { start / hour * hour }

    /// - Parameter slots: the requests above each bound in each slot, and before them all requests and the failed ones. The last
    ///   slot ends at `end`.
    init(bounds: [Double], slots: [[Double]], end: UnixNanoseconds = 0) {
        let number = Int(end / Self.slot) - slots.count
        self.bounds = bounds
        history = RowHistory(slotMinutes: Int(Self.slotMinutes), first: number, slots: slots)
    }
}
