import MartletPoints
import MartletTelemetry

/// The series and the interval that the duration and the sizes of the same requests share.
struct PointKey: Hashable {
    var series: SharedDimensions
    var start: UnixNanoseconds
    var end: UnixNanoseconds

    init(_ point: HistogramPoint, _ limits: IntakeLimits) throws(PointRefusal) {
        guard point.count > 0 else { throw .countOfBuckets }
        (start, end) = (point.intervalStart, point.end)
        // The store keeps times as 63 bits, which last until 2262.
        guard end > 0, start <= end, end <= UInt64(Int64.max) else {
            throw PointRefusal(reason: "the interval ends before it starts, or has no valid end")
        }
        series = point.attributes.series
        guard point.attributes.longestText <= limits.maxAttributeBytes else {
            throw PointRefusal(reason: "an attribute of the point is too long")
        }
    }
}
