import Foundation
import MartletTelemetry

extension HistogramPoint {
    /// The values, which are durations, as the sketch that everything is computed from, in seconds.
    ///
    /// - Parameter unit: of the values, in seconds.
    func durations(unit: Double, _ limits: IntakeLimits) throws(PointRefusal) -> ExponentialHistogram {
        guard let seconds = seconds(unit: unit) else {
            throw PointRefusal(reason: "a sum of durations that is missing or cannot be")
        }
        guard count <= limits.maxRequestsPerPoint else { throw PointRefusal(reason: "a count that is too large") }
        let sketch: ExponentialHistogram?
        let (min, max) = (Self.bound(figures.min, unit), Self.bound(figures.max, unit))
        switch buckets {
        case .explicit(let bounds, let counts):
            let range = temporality == .delta ? (min: min, max: max) : (nil, nil)
            sketch = ExplicitBuckets(bounds: bounds.map { $0 * unit }, counts: counts)?
                .spread(count: count, within: range)
                .map { ExponentialHistogram($0, scale: ExplicitBuckets.scale, sum: seconds, min: min, max: max) }
        case .exponential(let scale, let zeroCount, let offset, let counts):
            sketch = Self.shift(of: unit, scale).flatMap { shift in
                let (offset, isTooFar) = offset.addingReportingOverflow(shift)
                guard !isTooFar else { return nil }
                return ExponentialHistogram(
                    scale: scale, sum: seconds, min: min, max: max, zeroCount: zeroCount, offset: offset,
                    buckets: counts)
            }
        }
        guard let sketch else { throw PointRefusal(reason: "a histogram whose buckets are out of bounds") }
        guard sketch.count == count else { throw PointRefusal(reason: "a count that is not the sum of the buckets") }
        return sketch
    }

    private static func bound(_ value: Double?, _ unit: Double) -> Double? {
        value.map { $0 * unit }.flatMap { (0...Self.maxSeconds).contains($0) ? $0 : nil }
    }

    /// By how many buckets values move when they are multiplied by `unit`: to the nearest, which makes the error of a
    /// quantile twice what it was at most. `nil` for a scale that cannot be.
    private static func shift(of unit: Double, _ scale: Int32) -> Int32? {
        (-10...20).contains(scale) ? Int32(scalbn(log2(unit), Int(scale)).rounded()) : nil
    }
}
