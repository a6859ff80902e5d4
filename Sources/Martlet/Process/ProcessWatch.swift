import MartletTelemetry

/// The figures of this process, interval by interval. For the agent's thread alone.
struct ProcessWatch {
    private let start = ProcessSample.processStart()
    private let delays: DelayProbes
    private var last: ProcessSample

    init(_ delays: DelayProbes) {
        self.delays = delays
        last = ProcessSample(processStart: start)
    }

    /// Returns the figures since the last call, or since the watch began.
    ///
    /// - Parameter length: the length of the interval, in nanoseconds.
    mutating func next(_ length: UInt64) -> ProcessStatistics {
        let sample = ProcessSample(processStart: start)
        defer { last = sample }
        var statistics = ProcessStatistics()
        statistics.counts = sample.counts(since: last)
        statistics.covered = statistics.counts.isEmpty ? 0 : length
        for (gauge, value) in sample.gauges { statistics.add(value, of: gauge) }
        for (gauge, samples) in delays.take() { statistics.add(samples, of: gauge) }
        return statistics
    }
}
