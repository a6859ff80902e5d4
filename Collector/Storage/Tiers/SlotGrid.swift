import MartletTelemetry

/// The slots that a window is cut into: all of one length, with ends at multiples of it. The window cuts the first and the
/// last one. Pure.
package struct SlotGrid: Sendable, Equatable {
    package let window: TimeWindow
    /// The length of a slot, in nanoseconds.
    package let step: UInt64
    /// The number of slots.
    package let count: Int

    /// - Parameters:
    ///   - window: the window of an answer.
    ///   - step: the wanted length of a slot, in nanoseconds. If the store has no figures as fine at the window's start, the
    ///     length grows to a multiple of the finest that it has.
    package init(_ window: TimeWindow, step: UInt64, expired: ExpiredTimes) {
        self.window = window
        let finest = expired.finest(at: Int64(clamping: window.from)).map { UInt64($0.length) } ?? 1
        let slots = max(1, step / finest + (step % finest > 0 ? 1 : 0))
        self.step = slots.multipliedReportingOverflow(by: finest).overflow ? .max : slots * finest
        count = window.to > window.from ? Int(clamping: (window.to - 1) / self.step - window.from / self.step + 1) : 0
    }

    /// Returns the index of the slot that an interval's end lies in.
    ///
    /// - Parameter end: a time in the window.
    package func index(of end: UnixNanoseconds) -> Int {
        let number = (max(end, window.from + 1) - 1) / step
        return min(Int(clamping: number - window.from / step), count - 1)
    }

    /// Returns the part of the window that a slot covers.
    package func window(ofSlot index: Int) -> TimeWindow {
        let start = (window.from / step + UInt64(index)) * step
        return TimeWindow(from: max(start, window.from), to: min(start &+ step, window.to))
    }
}
