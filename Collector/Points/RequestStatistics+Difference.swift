import MartletTelemetry

extension RequestStatistics {
    /// Returns the requests since `earlier`, without phases, for which no metric is cumulative. `nil` if a figure fell,
    /// so that this cannot be a later state of the same metric.
    package func difference(since earlier: RequestStatistics) -> RequestStatistics? {
        guard bytesSent >= earlier.bytesSent, bytesReceived >= earlier.bytesReceived,
            let duration = duration.difference(since: earlier.duration)
        else { return nil }
        return RequestStatistics(
            duration: duration, bytesSent: bytesSent - earlier.bytesSent,
            bytesReceived: bytesReceived - earlier.bytesReceived)
    }

    /// Returns the statistics with durations converted to seconds.
    ///
    /// - Parameter unit: the unit of the durations, in seconds.
    package func inSeconds(from unit: Double) -> RequestStatistics {
        var result = self
        result.duration = duration.multiplied(by: unit)
        return result
    }

    package var isEmpty: Bool { requests == 0 && bytesSent == 0 && bytesReceived == 0 }
}
