import MartletTelemetry

/// Buckets whose bounds the sender chose, of durations in seconds.
///
/// Of the values of a bucket nothing is known but its bounds. They are taken to lie evenly between them, as Prometheus's
/// `histogram_quantile` does, in ``steps`` places: a quantile that is computed from them lies in the same bucket as the exact
/// one. Where the n-th value of a bucket goes depends on n alone, so that of a histogram that counts on the difference between
/// two points is what came in between.
struct ExplicitBuckets {
    /// Places in a bucket; a power of two.
    static let steps: UInt64 = 16
    /// Of the sketch that is made of them: finer than the buckets are by far, and half the memory of Martlet's own.
    static let scale = ExponentialHistogram.defaultScale - 1

    private let bounds: [Double]
    private let counts: [UInt64]

    /// `nil` when they cannot be: bounds that do not grow, or too many of them for the counts.
    init?(bounds: [Double], counts: [UInt64]) {
        guard counts.isEmpty || counts.count == bounds.count + 1,
            bounds.count < ExponentialHistogram.maxBuckets, bounds.allSatisfy(\.isFinite),
            zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        self.bounds = bounds
        self.counts = counts
    }

    /// Places and how many values are there; `nil` when the buckets do not make `count`.
    ///
    /// Where there are no bounds nothing is known of the values, and they stand at zero: see
    /// ``ExponentialHistogram/distributed``.
    ///
    /// - Parameter range: the smallest and the largest value, where they are known.
    func spread(
        count: UInt64, within range: (min: Double?, max: Double?)
    ) -> [(value: Double, count: UInt64)]? {
        guard !bounds.isEmpty, !counts.isEmpty else { return counts.isEmpty || counts == [count] ? [(0, count)] : nil }
        var places: [(value: Double, count: UInt64)] = []
        var total: UInt64 = 0
        for (index, number) in counts.enumerated() where number > 0 {
            let (sum, isTooLarge) = total.addingReportingOverflow(number)
            guard !isTooLarge else { return nil }
            total = sum
            places += Self.spread(number, in: place(of: index, within: range))
        }
        return total == count ? places : nil
    }

    /// Above the last bound the values reach to the largest one, and to twice the bound where it is not known.
    private func place(of index: Int, within range: (min: Double?, max: Double?)) -> ClosedRange<Double> {
        let low = index == 0 ? 0 : Self.limited(bounds[index - 1])
        let high = Swift.max(low, Self.limited(index < bounds.count ? bounds[index] : range.max ?? low * 2))
        let lowest = Swift.min(Swift.max(low, range.min ?? low), high)
        return lowest...Swift.max(lowest, Swift.min(high, range.max ?? high))
    }

    /// Some write infinity as the largest number that there is.
    private static func limited(_ seconds: Double) -> Double {
        Swift.min(Swift.max(0, seconds), HistogramPoint.maxSeconds)
    }

    private static func spread(_ number: UInt64, in place: ClosedRange<Double>) -> [(value: Double, count: UInt64)] {
        guard place.lowerBound < place.upperBound else { return [(place.upperBound, number)] }
        let width = (place.upperBound - place.lowerBound) / Double(steps)
        return (0..<steps).compactMap { step in
            let turn = reversed(step)
            guard number > turn else { return nil }
            return (place.lowerBound + (Double(step) + 0.5) * width, (number - turn - 1) / steps + 1)
        }
    }

    /// The place of a step in the order in which values go to them: each next one lies far from the last.
    private static func reversed(_ step: UInt64) -> UInt64 {
        var (rest, result) = (step, UInt64(0))
        for _ in 0..<steps.trailingZeroBitCount {
            result = result << 1 | rest & 1
            rest >>= 1
        }
        return result
    }
}
