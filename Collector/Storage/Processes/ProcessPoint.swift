import MartletTelemetry

/// The figures of a process in one interval.
package struct ProcessPoint: Sendable, Equatable {
    /// The start of the interval; equal to its end if the point has only gauges.
    package var start: UnixNanoseconds
    package var end: UnixNanoseconds
    package var statistics: ProcessStatistics

    package init(start: UnixNanoseconds, end: UnixNanoseconds, statistics: ProcessStatistics) {
        self.start = start
        self.end = end
        self.statistics = statistics
    }

    /// A counter's growth in an interval.
    package init(start: UnixNanoseconds, end: UnixNanoseconds, _ counter: ProcessCounter, _ growth: UInt64) {
        self.init(start: start, end: end, statistics: ProcessStatistics())
        add(growth, to: counter)
    }

    package mutating func add(_ growth: UInt64, to counter: ProcessCounter) {
        var added = ProcessStatistics()
        added.counts[counter] = growth
        // All modes of CPU time arrive together, so one of them sets the covered time.
        if counter == .cpuUser, statistics.covered == 0 { added.covered = end - start }
        statistics.merge(added)
    }
}

/// A counter of a process at one moment, as senders of cumulative metrics report it (OpenTelemetry specification, "Metrics Data
/// Model", section Temporality).
package struct ProcessTotal: Sendable, Equatable {
    package var counter: ProcessCounter
    /// The time that the sender counts from; 0 if unknown.
    package var start: UnixNanoseconds
    package var end: UnixNanoseconds
    package var value: UInt64

    package init(_ counter: ProcessCounter, start: UnixNanoseconds, end: UnixNanoseconds, value: UInt64) {
        (self.counter, self.start, self.end, self.value) = (counter, start, end, value)
    }

    /// The time after which a lower total replaces a known one, in nanoseconds: the process of the higher one has ended.
    private static let silence: UnixNanoseconds = 3600 * 1_000_000_000

    /// Whether the total takes the place of the known one with the same start. A counter that fell under the same start is another
    /// process's, as after a fork (see ``StreamWriters``): only the growth of the highest one counts. If the start is unknown, the
    /// process has restarted.
    package func replaces(_ known: ProcessTotal) -> Bool {
        guard end > known.end else { return false }
        return value >= known.value || start == 0 || end - known.end > Self.silence
    }

    /// Returns the growth since an earlier total with the same start; `nil` if the counter did not grow or the growth is unknown.
    ///
    /// - Parameter firstIntervalAtMost: the longest interval for which a first total is counted from its start, in nanoseconds.
    ///   An older total may already have been counted.
    package func growth(since earlier: ProcessTotal?, firstIntervalAtMost: UnixNanoseconds) -> ProcessPoint? {
        if let earlier {
            guard end > earlier.end, value >= earlier.value else { return nil }
            return ProcessPoint(start: earlier.end, end: end, counter, value - earlier.value)
        }
        guard start > 0, end > start, end - start <= firstIntervalAtMost else { return nil }
        return ProcessPoint(start: start, end: end, counter, value)
    }
}
