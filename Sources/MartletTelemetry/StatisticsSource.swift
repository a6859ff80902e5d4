/// The telemetry that a sender's requests are counted from.
package enum StatisticsSource: String, Sendable, Hashable, CaseIterable {
    /// Metrics, which count every request.
    case metrics
    /// Spans, for a sender that has nothing else. The requests that it did not sample are missing.
    case spans
}
