import MartletOTLP
import MartletTelemetry

/// A point of a distribution of which only the number of values and their sum are kept.
struct SumPoint {
    /// Doubles count whole bytes exactly up to here.
    private static let maxBytes = 9_007_199_254_740_992.0

    var attributes: [OTLPKeyValue]
    var start: UnixNanoseconds
    var end: UnixNanoseconds
    var count: UInt64
    var sum: Double
    var isDelta: Bool

    /// `nil` when the sum is none that bytes can have.
    var bytes: UInt64? {
        (0...Self.maxBytes).contains(sum) ? UInt64(sum) : nil
    }

    /// `nil` when the sum is none that so many durations can have.
    var seconds: Double? {
        sum >= 0 && sum <= DurationPoint.maxSeconds * Double(count) ? sum : nil
    }

    /// None for a metric that is no histogram.
    static func all(in metric: OTLPMetric) -> [SumPoint] {
        switch metric.data {
        case .histogram(let histogram):
            histogram.dataPoints.map {
                SumPoint(
                    attributes: $0.attributes, start: $0.startTimeUnixNano, end: $0.timeUnixNano, count: $0.count,
                    sum: $0.sum,
                    isDelta: histogram.aggregationTemporality == .delta)
            }
        case .exponentialHistogram(let histogram):
            histogram.dataPoints.map {
                SumPoint(
                    attributes: $0.attributes, start: $0.startTimeUnixNano, end: $0.timeUnixNano, count: $0.count,
                    sum: $0.sum,
                    isDelta: histogram.aggregationTemporality == .delta)
            }
        default: []
        }
    }
}
