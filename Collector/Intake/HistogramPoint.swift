import MartletOTLP
import MartletTelemetry

/// A point of a histogram, whichever buckets it has.
struct HistogramPoint {
    enum Buckets {
        /// `counts[i]` values are above `bounds[i - 1]` and at or below `bounds[i]`; both empty where nothing is known.
        case explicit(bounds: [Double], counts: [UInt64])
        case exponential(scale: Int32, zeroCount: UInt64, offset: Int32, counts: [UInt64])
    }

    var attributes: [OTLPKeyValue]
    var start: UnixNanoseconds
    var end: UnixNanoseconds
    var count: UInt64
    /// `nil` where the sender gives none; likewise the bounds.
    var sum: Double?
    var min: Double?
    var max: Double?
    var buckets: Buckets
    var temporality: OTLPAggregationTemporality

    /// A delta that does not say since when is of a moment: nothing is known of the time before.
    var intervalStart: UnixNanoseconds { temporality == .delta && start == 0 ? end : start }

    /// Those that have values. None for a metric that is no histogram.
    static func all(in metric: OTLPMetric) -> [HistogramPoint] {
        switch metric.data {
        case .histogram(let histogram):
            histogram.dataPoints.compactMap { point in
                point.count > 0 ? HistogramPoint(point, histogram.aggregationTemporality) : nil
            }
        case .exponentialHistogram(let histogram):
            histogram.dataPoints.compactMap { point in
                point.count > 0 ? HistogramPoint(point, histogram.aggregationTemporality) : nil
            }
        default: []
        }
    }

    private init(_ point: OTLPHistogramDataPoint, _ temporality: OTLPAggregationTemporality) {
        attributes = point.attributes
        (start, end, count) = (point.startTimeUnixNano, point.timeUnixNano, point.count)
        sum = point.hasSum ? point.sum : nil
        min = point.hasMin ? point.min : nil
        max = point.hasMax ? point.max : nil
        buckets = .explicit(bounds: point.explicitBounds, counts: point.bucketCounts)
        self.temporality = temporality
    }

    private init(_ point: OTLPExponentialHistogramDataPoint, _ temporality: OTLPAggregationTemporality) {
        attributes = point.attributes
        (start, end, count) = (point.startTimeUnixNano, point.timeUnixNano, point.count)
        sum = point.hasSum ? point.sum : nil
        min = point.hasMin ? point.min : nil
        max = point.hasMax ? point.max : nil
        buckets = .exponential(
            scale: point.scale, zeroCount: point.zeroCount, offset: point.positive.offset,
            counts: point.positive.bucketCounts)
        self.temporality = temporality
    }
}
