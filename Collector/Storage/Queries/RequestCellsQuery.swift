import MartletTelemetry

/// A question about the number of kept requests by time and duration.
package struct RequestCellsQuery: Sendable, Equatable {
    package var filter: RequestFilter
    /// The parts of time in order, each from the end of the one before, by the senders' clocks. A request belongs to the part
    /// that it started in.
    package var times: [TimeWindow]
    /// The upper bounds of the durations in nanoseconds, ascending. A request belongs to the first one that it does not exceed,
    /// and past the last one if it exceeds them all.
    package var durations: [UInt64]

    package init(filter: RequestFilter, times: [TimeWindow], durations: [UInt64]) {
        self.filter = filter
        self.times = times
        self.durations = durations
    }
}
