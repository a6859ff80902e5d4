import MartletOTLP
import MartletTelemetry

/// A metric of the durations of HTTP requests.
struct DurationMetric {
    var kind: RequestKind
    /// `nil` for a unit that is not known.
    var secondsPerUnit: Double?

    /// `nil` for other metrics.
    init?(_ metric: EncodedMetric) {
        guard let kind = RequestKind(durationMetric: MetricName.stable(of: metric.name)) else { return nil }
        self.kind = kind
        // Before the stable names durations were milliseconds.
        let isStable = MetricName.stable(of: metric.name) == metric.name
        secondsPerUnit = metric.unit.isEmpty ? (isStable ? 1 : 1e-3) : Self.seconds[metric.unit]
    }

    /// By UCUM, and as some write them.
    private static let seconds = [
        "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "seconds": 1, "milliseconds": 1e-3,
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
