import MartletOTLP
import MartletTelemetry

/// A metric of the durations of HTTP requests.
struct DurationMetric {
    var kind: RequestKind
    /// The unit of the durations in seconds; `nil` if the unit is not known.
    var secondsPerUnit: Double?

    /// `nil` if the metric is not of durations.
    init?(_ metric: EncodedMetric) {
        guard let kind = RequestKind(durationMetric: MetricName.stable(of: metric.name)) else { return nil }
        self.kind = kind
        // Before the stable names, durations were in milliseconds.
        let isStable = MetricName.stable(of: metric.name) == metric.name
        secondsPerUnit = metric.unit.isEmpty ? (isStable ? 1 : 1e-3) : Self.seconds[metric.unit]
    }

    /// Seconds by the unit's name: the names of UCUM, and others that some senders write.
    private static let seconds = [
        "s": 1, "ms": 1e-3, "us": 1e-6, "\u{b5}s": 1e-6, "\u{3bc}s": 1e-6, "ns": 1e-9, "second": 1, "seconds": 1,
        "millisecond": 1e-3, "milliseconds": 1e-3,
    ]
}

extension RequestKind {
    fileprivate init?(durationMetric name: String) {
        switch name {
        case MetricName.clientDuration: self = .client
        case MetricName.serverDuration: self = .server
        default: return nil
        }
    }
}
