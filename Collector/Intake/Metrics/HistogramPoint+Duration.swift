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
        guard let seconds = seconds(unit: unit) else {
            throw PointRefusal(reason: "the sum of durations is missing or impossible")
        }
        guard count <= limits.maxRequestsPerPoint else { throw PointRefusal(reason: "the count is too large") }
        let sketch: ExponentialHistogram?
        let countsOn = temporality == .cumulative
        var left = 1.0
        switch buckets {
        case .explicit(let bounds, let counts):
            let (min, max) = (bound(figures.min, unit).map { $0 * unit }, bound(figures.max, unit).map { $0 * unit })
            let range = temporality == .delta ? (min: min, max: max) : (nil, nil)
            sketch = ExplicitBuckets(bounds: bounds.map { $0 * unit }, counts: counts)?
                .spread(count: count, within: range)
                .map { ExponentialHistogram($0, scale: ExplicitBuckets.scale, sum: seconds, min: min, max: max) }
        case .exponential(let scale, let zeroCount, let offset, let counts):
            let values = ExponentialHistogram(
                scale: scale, sum: sum ?? 0, min: bound(figures.min, unit), max: bound(figures.max, unit),
                zeroCount: zeroCount, offset: offset, buckets: counts)
            (sketch, left) = countsOn ? (values, unit) : (values?.multiplied(by: unit), 1)
        }
        guard let sketch else { throw PointRefusal(reason: "the histogram's buckets are out of bounds") }
        guard sketch.count == count else { throw PointRefusal(reason: "the count is not the sum of the buckets") }
        return (sketch, left)
    }

    /// Returns the value; `nil` if it cannot be a duration.
    private func bound(_ value: Double?, _ unit: Double) -> Double? {
        value.flatMap { (0...Self.maxSeconds).contains($0 * unit) ? $0 : nil }
    }
}
