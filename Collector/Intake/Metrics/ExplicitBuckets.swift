import MartletTelemetry

/// Buckets whose bounds the sender chose, of durations in seconds.
///
/// Only the bounds of a bucket's values are known. The values are spread evenly between the bounds, as Prometheus's
/// `histogram_quantile` does, over ``steps`` positions: a computed quantile lies in the same bucket as the exact one. The
/// position of a bucket's n-th value depends on n alone, so the difference between two points of a cumulative histogram
/// consists of the values that came in between.
struct ExplicitBuckets {
    /// The number of positions in a bucket; a power of two.
    static let steps: UInt64 = 16
    /// The scale of the sketch that the buckets become: far finer than the buckets, with half the memory of Martlet's own
    /// scale.
    static let scale = ExponentialHistogram.defaultScale - 1

    private let bounds: [Double]
    private let counts: [UInt64]

    /// `nil` if the buckets are not valid: bounds that do not ascend, too many bounds, or a number of bounds that does
    /// not fit the counts.
    init?(bounds: [Double], counts: [UInt64]) {
        guard counts.isEmpty || counts.count == bounds.count + 1,
            bounds.count < ExponentialHistogram.maxBuckets, bounds.allSatisfy(\.isFinite),
            zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        self.bounds = bounds
        self.counts = counts
    }

    /// Returns each position with the number of values there; `nil` if the buckets do not add up to `count`.
    ///
    /// Without bounds nothing is known of the values, and all are put at zero: see ``ExponentialHistogram/distributed``.
    ///
    /// - Parameter range: the smallest and the largest value; `nil` if not known.
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
            values += Self.spread(number, over: valueRange(of: index, within: range))
        }
        return total == count ? values : nil
    }

    /// Returns the range of a bucket's values, in seconds. The range above the last bound ends at the largest value, or
    /// at twice the bound if the largest value is not known.
    private func valueRange(of index: Int, within range: (min: Double?, max: Double?)) -> ClosedRange<Double> {
        let low = index == 0 ? 0 : Self.limited(bounds[index - 1])
        let high = Swift.max(low, Self.limited(index < bounds.count ? bounds[index] : range.max ?? low * 2))
        let lowest = Swift.min(Swift.max(low, range.min ?? low), high)
        return lowest...Swift.max(lowest, Swift.min(high, range.max ?? high))
    }

    /// Returns the bound, kept between 0 and the longest duration. Some senders write infinity as the largest finite
    /// number.
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

    /// Returns the turn of a step: its index in the order in which the steps get values. Successive values go to steps
    /// far apart.
    private static func reversed(_ step: UInt64) -> UInt64 {
        var (rest, result) = (step, UInt64(0))
        for _ in 0..<steps.trailingZeroBitCount {
            result = result << 1 | rest & 1
            rest >>= 1
        }
        return result
    }
}
