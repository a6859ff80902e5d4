import MartletTelemetry

extension HistogramPoint {
    /// Returns the values, which are durations, as an ``ExponentialHistogram``.
    ///
    /// - Parameter unit: the unit of the values, in seconds.
    /// - Returns: the histogram and its unit in seconds. The unit is 1, except for cumulative exponential buckets: they
    ///   are converted after the difference between two points is taken.
    func durations(
        unit: Double, _ limits: IntakeLimits
    ) throws(PointRefusal) -> (sketch: ExponentialHistogram, unit: Double) {
        guard count > 0 else { throw .countOfBuckets }
        guard let seconds = seconds(unit: unit) else {
            throw PointRefusal(reason: "the sum of durations is missing or impossible")
        }
        guard count <= limits.maxRequestsPerPoint else { throw PointRefusal(reason: "the count is too large") }
        let found =
            switch buckets {
            case .explicit(let bounds, let counts): (try explicit(bounds, counts, seconds, unit), 1.0)
            case .exponential(let scale, let zeroCount, let offset, let counts, let negative):
                try exponential(scale, zeroCount, offset, counts, negative, unit)
            }
        guard found.0.count == count else { throw .countOfBuckets }
        return (sketch: found.0, unit: found.1)
    }

    private func explicit(
        _ bounds: [Double], _ counts: [UInt64], _ seconds: Double, _ unit: Double
    ) throws(PointRefusal) -> ExponentialHistogram {
        try Self.check(buckets: max(bounds.count + 1, counts.count))
        guard let buckets = ExplicitBuckets(bounds: bounds.map { $0 * unit }, counts: counts) else {
            throw PointRefusal(reason: "the histogram's bounds do not ascend, or do not fit its buckets")
        }
        let (min, max) = (bound(figures.min, unit).map { $0 * unit }, bound(figures.max, unit).map { $0 * unit })
        let range = temporality == .delta ? (min: min, max: max) : (nil, nil)
        guard let values = buckets.spread(count: count, within: range) else { throw .countOfBuckets }
        return ExponentialHistogram(values, scale: ExplicitBuckets.scale, sum: seconds, min: min, max: max)
    }

    private func exponential(
        _ scale: Int32, _ zeroCount: UInt64, _ offset: Int32, _ counts: [UInt64], _ negative: [UInt64], _ unit: Double
    ) throws(PointRefusal) -> (ExponentialHistogram, Double) {
        guard !negative.contains(where: { $0 > 0 }) else { throw PointRefusal(reason: "a duration is negative") }
        try Self.check(buckets: counts.count)
        let values = ExponentialHistogram(
            scale: scale, sum: sum ?? 0, min: bound(figures.min, unit), max: bound(figures.max, unit),
            zeroCount: zeroCount, offset: offset, buckets: counts)
        guard let values else { throw PointRefusal(reason: "the histogram's buckets are out of bounds") }
        return temporality == .cumulative ? (values, unit) : (values.multiplied(by: unit), 1)
    }

    private static func check(buckets count: Int) throws(PointRefusal) {
        guard count <= ExponentialHistogram.maxBuckets else {
            throw PointRefusal(reason: "the histogram has more than \(ExponentialHistogram.maxBuckets) buckets")
        }
    }

    /// Returns the value; `nil` if it cannot be a duration.
    private func bound(_ value: Double?, _ unit: Double) -> Double? {
        value.flatMap { (0...Self.maxSeconds).contains($0 * unit) ? $0 : nil }
    }
}
