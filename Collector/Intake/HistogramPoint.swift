import MartletOTLP
import MartletStorage
import MartletTelemetry

/// A point of a histogram with either kind of buckets.
struct HistogramPoint {
    enum Buckets: Equatable {
        /// `counts[i]` values are above `bounds[i - 1]` and at or below `bounds[i]`. Both arrays are empty if the sender gives
        /// no buckets.
        case explicit(bounds: [Double], counts: [UInt64])
        case exponential(scale: Int32, zeroCount: UInt64, offset: Int32, counts: [UInt64], negative: [UInt64])

        /// Whether the buckets have a value.
        var hasValues: Bool {
            switch self {
            case .explicit(_, let counts): counts.contains { $0 > 0 }
            case .exponential(_, let zeroCount, _, let counts, let negative):
                zeroCount > 0 || counts.contains { $0 > 0 } || negative.contains { $0 > 0 }
            }
        }
    }

    /// The figures that both kinds of points have.
    struct Figures: Equatable {
        var start: UnixNanoseconds = 0
        var end: UnixNanoseconds = 0
        var count: UInt64 = 0
        /// `nil` if the sender gives none. The same holds for the bounds.
        var sum: Double?
        var min: Double?
        var max: Double?
    }

    let attributes: PointAttributes
    let figures: Figures
    let buckets: Buckets
    let temporality: OTLPAggregationTemporality

    var start: UnixNanoseconds { figures.start }
    var end: UnixNanoseconds { figures.end }
    var count: UInt64 { figures.count }
    var sum: Double? { figures.sum }

    /// The start of the interval. A delta without a start covers only the moment of its end, because nothing is known about the
    /// time before. The same holds for a delta that ends before it starts: the sender's clock was set back in between.
    var intervalStart: UnixNanoseconds { temporality == .delta && (start == 0 || start > end) ? end : start }
}

extension HistogramPoint {
    /// Returns a hash of the stream, all attributes, the times and the figures. A point that is sent again has the same hash.
    func identity(in stream: StreamID) -> UInt64 {
        var hash = WordHash(stream.word)
        for word in [attributes.identity, start, end, count] { hash.add(word) }
        for figure in [sum, figures.min, figures.max] { hash.add(figure?.bitPattern ?? .max) }
        switch buckets {
        case .explicit(_, let counts):
            for count in counts { hash.add(count) }
        case .exponential(let scale, let zeroCount, let offset, let counts, _):
            hash.add(UInt64(truncatingIfNeeded: Int64(scale)))
            hash.add(zeroCount)
            hash.add(UInt64(truncatingIfNeeded: Int64(offset)))
            for count in counts { hash.add(count) }
        }
        return hash.state
    }
}

/// A hash of words that is the same in every process.
private struct WordHash {
    private(set) var state: UInt64

    init(_ seed: UInt64) { state = seed }

    /// One round of MurmurHash3's 64-bit finalizer (MurmurHash3.cpp, `fmix64`).
    mutating func add(_ word: UInt64) {
        state = (state ^ word) &* 0xff51_afd7_ed55_8ccd
        state ^= state >> 33
    }
}

extension HistogramPoint {
    /// The largest sum of bytes. A Double counts whole bytes exactly up to here.
    private static let maxBytes = 9_007_199_254_740_992.0
    /// The longest duration, in seconds: a hundred years. With this limit, sums stay far from infinity.
    static let maxSeconds = 3.2e9

    /// The sum of sizes, in bytes; `nil` if it is missing or not a number of bytes.
    var bytes: UInt64? {
        sum.flatMap { (0...Self.maxBytes).contains($0) ? UInt64($0) : nil }
    }

    /// Returns the sum of durations in seconds. `nil` if it is missing, or impossible for so many durations.
    ///
    /// - Parameter unit: the unit of the durations, in seconds.
    func seconds(unit: Double = 1) -> Double? {
        sum.flatMap { $0 >= 0 && $0 * unit <= Self.maxSeconds * Double(count) ? $0 * unit : nil }
    }
}

extension HistogramPoint {
    /// Returns the values, which are durations, as an ``ExponentialHistogram``.
    ///
    /// - Parameter unit: the unit of the values, in seconds.
    /// - Returns: the histogram and its unit in seconds. The unit is 1, except for cumulative exponential buckets: those are
    ///   converted after two points are subtracted.
    func durations(
        unit: Double, _ limits: IntakeLimits
    ) throws(PointRefusal) -> (sketch: ExponentialHistogram, unit: Double) {
        guard count > 0 else { throw .countMismatch }
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
        guard found.0.count == count else { throw .countMismatch }
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
        guard let values = buckets.spread(count: count, within: range) else { throw .countMismatch }
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

/// Buckets of durations in seconds, with bounds that the sender chose.
///
/// Only the bounds of a bucket's values are known. As Prometheus's `histogram_quantile` does, this spreads the values evenly
/// between the bounds, over ``steps`` positions. So a computed quantile lies in the same bucket as the exact one. The position
/// of a bucket's n-th value depends only on n, so the difference between two points of a cumulative histogram consists of the
/// values that came in between.
struct ExplicitBuckets {
    /// The number of positions in a bucket; a power of two.
    static let steps: UInt64 = 16
    /// The scale of the sketch made from the buckets. It is far finer than the buckets, and takes half the memory of Martlet's
    /// own scale.
    static let scale = ExponentialHistogram.defaultScale - 1

    private let bounds: [Double]
    private let counts: [UInt64]

    /// `nil` if the buckets are invalid: the bounds do not ascend, there are too many, or their number does not match the
    /// counts.
    init?(bounds: [Double], counts: [UInt64]) {
        let (bounds, counts) = Self.withoutInfiniteBounds(bounds, counts)
        guard counts.isEmpty || counts.count == bounds.count + 1,
            bounds.count < ExponentialHistogram.maxBuckets, bounds.allSatisfy(\.isFinite),
            zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        self.bounds = bounds
        self.counts = counts
    }

    /// Returns the buckets without the outer bounds that are no time, such as infinity. Some senders write the largest finite
    /// number instead. The bucket beyond such a bound is empty, and some senders leave it out; what it counts is added to its
    /// neighbour.
    private static func withoutInfiniteBounds(_ bounds: [Double], _ counts: [UInt64]) -> ([Double], [UInt64]) {
        let low = bounds.prefix { $0 <= -HistogramPoint.maxSeconds }.count
        let high = bounds.reversed().prefix { $0 >= HistogramPoint.maxSeconds }.count
        guard low + high > 0 else { return (bounds, counts) }
        let inner = Array(bounds[low..<bounds.count - high])
        let excess = counts.count - inner.count - 1
        guard (1...low + high).contains(excess) else { return (inner, counts) }
        // No value is below the lowest bound, so a bucket that counts some is not the one below it.
        let front = counts[0] == 0 ? min(low, excess) : max(0, excess - high)
        let back = counts.count - (excess - front)
        var kept = Array(counts[front..<back])
        kept[0] = counts[..<front].reduce(kept[0]) { $0.adding($1) }
        kept[kept.count - 1] = counts[back...].reduce(kept[kept.count - 1]) { $0.adding($1) }
        return (inner, kept)
    }

    /// Returns each position with its number of values; `nil` if the buckets do not add up to `count`.
    ///
    /// Without bounds nothing is known of the values, so all are put at zero: see ``ExponentialHistogram/distributed``.
    ///
    /// - Parameter range: the smallest and the largest value; `nil` if unknown.
    func spread(
        count: UInt64, within range: (min: Double?, max: Double?)
    ) -> [(value: Double, count: UInt64)]? {
        guard !bounds.isEmpty, !counts.isEmpty else { return counts.isEmpty || counts == [count] ? [(0, count)] : nil }
        var values: [(value: Double, count: UInt64)] = []
        var total: UInt64 = 0
        for (index, number) in counts.enumerated() where number > 0 {
            let (sum, isTooLarge) = total.addingReportingOverflow(number)
            guard !isTooLarge else { return nil }
            total = sum
            let bucket = self.range(of: index)
            values += Self.spread(number, over: valueRange(of: index, within: range)).map { position, count in
                (ExponentialHistogram.middle(near: position, within: bucket, Self.scale), count)
            }
        }
        return total == count ? values : nil
    }

    /// Returns the bounds of a bucket, in seconds.
    private func range(of index: Int) -> ClosedRange<Double> {
        let low = index == 0 ? 0 : Self.limited(bounds[index - 1])
        return low...Swift.max(low, index < bounds.count ? Self.limited(bounds[index]) : .infinity)
    }

    /// Returns the range of a bucket's values, in seconds. The range above the last bound ends at the largest value, or at
    /// twice the bound if the largest value is unknown.
    private func valueRange(of index: Int, within range: (min: Double?, max: Double?)) -> ClosedRange<Double> {
        let low = index == 0 ? 0 : Self.limited(bounds[index - 1])
        let high = Swift.max(low, Self.limited(index < bounds.count ? bounds[index] : range.max ?? low * 2))
        let lowest = Swift.min(Swift.max(low, range.min ?? low), high)
        return lowest...Swift.max(lowest, Swift.min(high, range.max ?? high))
    }

    /// Returns the bound, clamped to 0 and the longest duration. Some senders write infinity as the largest finite number.
    private static func limited(_ seconds: Double) -> Double {
        Swift.min(Swift.max(0, seconds), HistogramPoint.maxSeconds)
    }

    private static func spread(_ number: UInt64, over range: ClosedRange<Double>) -> [(value: Double, count: UInt64)] {
        guard range.lowerBound < range.upperBound else { return [(range.upperBound, number)] }
        let width = (range.upperBound - range.lowerBound) / Double(steps)
        return (0..<steps).compactMap { step in
            let turn = reversed(step)
            guard number > turn else { return nil }
            return (range.lowerBound + (Double(step) + 0.5) * width, (number - turn - 1) / steps + 1)
        }
    }

    /// Returns the step that gets the n-th value. Successive values go to steps far apart.
    private static func reversed(_ step: UInt64) -> UInt64 {
        var (rest, result) = (step, UInt64(0))
        for _ in 0..<steps.trailingZeroBitCount {
            result = result << 1 | rest & 1
            rest >>= 1
        }
        return result
    }
}
