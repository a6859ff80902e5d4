import MartletTelemetry

/// The figures of a process in one interval.
package struct ProcessPoint: Sendable, Equatable {
    /// The same as the end if the point has gauges alone.
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
        // The modes of CPU time come with each other, so one of them tells the time.
        if counter == .cpuUser, statistics.covered == 0 { added.covered = end - start }
        statistics.merge(added)
    }
}
