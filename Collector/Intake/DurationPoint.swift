import MartletOTLP
import MartletTelemetry

enum DurationPoint {
    /// No request took longer than a hundred years; sums of sums stay far from infinity.
    static let maxSeconds = 3.2e9

    /// The point as the sketch that everything is computed from.
    static func decode(
        _ point: OTLPExponentialHistogramDataPoint, limits: IntakeLimits
    ) throws(PointRefusal) -> ExponentialHistogram {
        guard point.hasSum, point.sum >= 0, point.sum <= maxSeconds * Double(point.count) else {
            throw PointRefusal(reason: "a sum of durations that is missing or cannot be")
        }
        guard
            let histogram = ExponentialHistogram(
                scale: point.scale, sum: point.sum, min: point.hasMin ? point.min : nil,
                max: point.hasMax ? point.max : nil, zeroCount: point.zeroCount, offset: point.positive.offset,
                buckets: point.positive.bucketCounts)
        else { throw PointRefusal(reason: "an exponential histogram that is out of bounds") }
        guard histogram.count == point.count, histogram.count <= limits.maxRequestsPerPoint else {
            throw PointRefusal(reason: "a count that is not the sum of the buckets, or too large")
        }
        return histogram
    }
}
