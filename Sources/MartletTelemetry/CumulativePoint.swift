/// A point of a metric that counts on (OpenTelemetry specification, "Metrics Data Model", section Temporality): everything
/// from the start of its interval to the end, what earlier points told of included.
package struct CumulativePoint: Sendable, Equatable {
    package var stream: StreamID
    /// Durations or body sizes, what its metric tells. It counts from `start`, 0 where the sender does not say.
    package var point: RequestPoint
    /// Seconds that a value of the durations is. They stay in the unit that they were sent in until a difference is taken: see
    /// ``ExponentialHistogram/multiplied(by:)``.
    package var unit: Double

    package init(stream: StreamID, point: RequestPoint, unit: Double = 1) {
        self.stream = stream
        self.point = point
        self.unit = unit
    }
}

extension RequestStatistics {
    /// What came in since `earlier`, phases left out, which nobody counts on; `nil` when something fell, so that it is no
    /// later state of the same metric.
    package func difference(since earlier: RequestStatistics) -> RequestStatistics? {
        guard bytesSent >= earlier.bytesSent, bytesReceived >= earlier.bytesReceived,
            let duration = duration.difference(since: earlier.duration)
        else { return nil }
        return RequestStatistics(
            duration: duration, bytesSent: bytesSent - earlier.bytesSent,
            bytesReceived: bytesReceived - earlier.bytesReceived)
    }

    /// With durations of another unit in seconds.
    ///
    /// - Parameter unit: in seconds.
    package func inSeconds(from unit: Double) -> RequestStatistics {
        var result = self
        result.duration = duration.multiplied(by: unit)
        return result
    }

    package var isEmpty: Bool { duration.count == 0 && bytesSent == 0 && bytesReceived == 0 }
}
