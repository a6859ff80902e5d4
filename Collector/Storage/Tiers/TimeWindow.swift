import MartletTelemetry

/// The times in `(from, to]`. A point belongs to the window if its interval ends in it.
package struct TimeWindow: Sendable, Equatable {
    package var from: UnixNanoseconds
    package var to: UnixNanoseconds

    package init(from: UnixNanoseconds, to: UnixNanoseconds) {
        self.from = from
        self.to = to
    }

    /// The time from its beginning to its end, in nanoseconds; 0 if the end is before the beginning.
    package var length: UInt64 { to > from ? to - from : 0 }

    /// Returns the part of the window after a time in it; the whole window for any other time.
    package func since(_ time: UnixNanoseconds?) -> TimeWindow {
        guard let time, from < time, time < to else { return self }
        return TimeWindow(from: time, to: to)
    }

    package var seconds: Double { Double(length) / 1e9 }
}
