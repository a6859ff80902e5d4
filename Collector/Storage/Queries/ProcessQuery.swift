import MartletTelemetry

/// A question about the processes of services over time.
package struct ProcessQuery: Sendable, Equatable {
    package var window: TimeWindow
    /// Its dimensions that a sender does not decide are of no effect.
    package var filter: RequestFilter
    /// The length of a slot, in nanoseconds. The store may answer in longer slots (``SlotGrid``).
    package var step: UInt64

    package init(window: TimeWindow, filter: RequestFilter = RequestFilter(), step: UInt64) {
        self.window = window
        self.filter = filter
        self.step = step
    }
}
