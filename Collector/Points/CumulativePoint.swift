/// A point of a cumulative metric (OpenTelemetry specification, "Metrics Data Model", section Temporality): all values
/// from the start of its interval to the end, those of earlier points included.
package struct CumulativePoint: Sendable, Equatable {
    package var stream: StreamID
    /// The durations or the body sizes, depending on the metric. Its `start` is 0 if the sender gives none.
    package var point: RequestPoint
    /// The unit of the durations, in seconds. Durations keep the sender's unit until a difference is taken: see
    /// ``ExponentialHistogram/multiplied(by:)``.
    package var unit: Double

    package init(stream: StreamID, point: RequestPoint, unit: Double = 1) {
        self.stream = stream
        self.point = point
        self.unit = unit
    }
}
