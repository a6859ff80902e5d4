/// A point of a metric that counts on (OpenTelemetry specification, "Metrics Data Model", section Temporality): everything
/// from the start of its interval to the end, what earlier points told of included.
package struct CumulativePoint: Sendable, Equatable {
    package var stream: StreamID
    /// Durations or body sizes, what its metric tells. It counts from `start`, 0 where the sender does not say.
    package var point: RequestPoint

    package init(stream: StreamID, point: RequestPoint) {
        self.stream = stream
        self.point = point
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

    package var isEmpty: Bool { duration.count == 0 && bytesSent == 0 && bytesReceived == 0 }
}
