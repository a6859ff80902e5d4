import MartletTelemetry

/// The times in `(from, to]`. A point belongs to the window if its interval ends in the window.
package struct TimeWindow: Sendable, Equatable {
    package var from: UnixNanoseconds
    package var to: UnixNanoseconds

    package init(from: UnixNanoseconds, to: UnixNanoseconds) {
        self.from = from
        self.to = to
    }

    /// The length of the window, in nanoseconds; 0 if the end is before the beginning.
    package var length: UInt64 { to > from ? to - from : 0 }

    /// Returns the part of the window after `time`, or the whole window if `time` does not lie in it.
    package func since(_ time: UnixNanoseconds?) -> TimeWindow {
        guard let time, from < time, time < to else { return self }
        return TimeWindow(from: time, to: to)
    }

    package var seconds: Double { Double(length) / 1e9 }
}

/// The slots that divide a window, all of the same length. The window's bounds may cut the first and the last slot. Pure.
package struct SlotGrid: Sendable, Equatable {
    package let window: TimeWindow
    /// The length of a slot, in nanoseconds.
    package let step: UInt64
    /// The number of slots.
    package let count: Int
    /// The length of the finest slots that the store has at the window's start, in nanoseconds; 1 if it has points as they arrived.
    package let finest: UInt64
    /// The offset that, added to a slot's end, gives a multiple of the step.
    package let shift: UInt64

    /// - Parameters:
    ///   - window: the window of an answer.
    ///   - step: the wanted length of a slot, in nanoseconds. If the store has only coarser figures at the window's start, the
    ///     length grows to a multiple of the finest length that it has.
    ///   - end: a time at which a slot ends, moved back to the end of one of the finest slots; `nil` for slots that end at
    ///     multiples of their length.
    package init(_ window: TimeWindow, step: UInt64, endingAt end: UnixNanoseconds? = nil, expired: ExpiredTimes) {
        self.window = window
        finest = expired.finest(at: Int64(clamping: window.from)).map { UInt64($0.length) } ?? 1
        let slots = max(1, step / finest + (step % finest > 0 ? 1 : 0))
        let length = slots.multipliedReportingOverflow(by: finest).overflow ? .max : slots * finest
        let end = end ?? 0
        let offset = (end - end % finest) % length
        (self.step, shift) = (length, offset > 0 ? length - offset : 0)
        let first = Self.number(at: window.from, length, shift)
        count = window.to > window.from ? Int(clamping: Self.number(at: window.to - 1, length, shift) - first + 1) : 0
    }

    /// Returns the index of the slot that an interval's end lies in.
    ///
    /// - Parameter end: a time in the window.
    package func index(of end: UnixNanoseconds) -> Int {
        let number = Self.number(at: max(end, window.from + 1) - 1, step, shift)
        return min(Int(clamping: number - first), count - 1)
    }

    /// Returns the part of the window that a slot covers.
    package func window(ofSlot index: Int) -> TimeWindow {
        let (start, end) = ((first + UInt64(index)) * step, (first + UInt64(index)) * step &+ step)
        return TimeWindow(from: max(start > shift ? start - shift : 0, window.from), to: min(end &- shift, window.to))
    }

    /// Returns the part of the window that several neighbouring slots cover.
    package func window(ofSlots slots: Range<Int>) -> TimeWindow {
        TimeWindow(from: window(ofSlot: slots.lowerBound).from, to: window(ofSlot: slots.upperBound - 1).to)
    }

    /// A length that divides every slot's end, in nanoseconds.
    package var granularity: UInt64 {
        var (one, other) = (step, shift)
        while other > 0 { (one, other) = (other, one % other) }
        return one
    }

    /// The number of the first slot: `(window.from + shift) / step`.
    package var first: UInt64 { Self.number(at: window.from, step, shift) }

    /// Returns the number of the slot that begins at or before a time.
    private static func number(at time: UnixNanoseconds, _ step: UInt64, _ shift: UInt64) -> UInt64 {
        let shifted = time.addingReportingOverflow(shift)
        return (shifted.overflow ? .max : shifted.partialValue) / step
    }
}
