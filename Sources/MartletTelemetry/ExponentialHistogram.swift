#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A distribution of positive values in exponentially growing buckets: the only sketch on the wire, in the store and in
/// reports.
///
/// Bucket `i` holds the values in `(base^i, base^(i+1)]` with `base = 2^(2^-scale)`, as the OpenTelemetry data model
/// defines it (specification, "Metrics Data Model", section ExponentialHistogram). Two histograms of one scale merge
/// without any error, two of different scales at the coarser one. At ``defaultScale`` the base is 1.00543, so a quantile
/// is within 0.28 % of the exact value.
///
/// A plain value: not synchronized.
package struct ExponentialHistogram: Sendable, Equatable {
    /// The scale at which Martlet records: a quantile is within 0.28 % of the exact value.
    package static let defaultScale: Int32 = 7

    /// The maximum number of buckets. Above it the scale is lowered, as in the specification. At the default scale only
    /// values more than 32 binary orders of magnitude apart reach it.
    package static let maxBuckets = 4096

    /// The scales that senders use according to the specification.
    package static let scales: ClosedRange<Int32> = -10...20

    /// Returns a bound that no index of a `Double` reaches: the exponents of a `Double` are from -1074 to 1023.
    static func indexBound(ofScale scale: Int32) -> Int64 { Int64(1100) << Int64(Swift.max(scale, 0)) }

    package private(set) var scale: Int32
    /// The number of values, including ``zeroCount``.
    package private(set) var count: UInt64 = 0
    package private(set) var sum: Double = 0
    /// The exact smallest and largest value; `nil` if the histogram is empty or the sender left them out.
    package private(set) var min: Double?
    package private(set) var max: Double?
    /// The number of values that are zero or less.
    package private(set) var zeroCount: UInt64 = 0
    private var bucketCounts = BucketCounts()

    /// The index of `buckets[0]`.
    package var offset: Int32 { bucketCounts.offset }
    /// The number of values in each bucket, from the lowest to the highest that was needed.
    package var buckets: [UInt64] { bucketCounts.counts }
    /// The number of ``buckets``.
    package var bucketCount: Int { bucketCounts.counts.count }

    package init(scale: Int32 = ExponentialHistogram.defaultScale) {
        self.scale = scale
    }

    /// A histogram that was received or stored; ``count`` is the sum of its buckets. `nil` if it is not valid: more
    /// buckets than ``maxBuckets``, an index beyond the range of `Double`, a sum that is not finite, a count that
    /// overflows.
    package init?(
        scale: Int32, sum: Double, min: Double?, max: Double?, zeroCount: UInt64, offset: Int32, buckets: [UInt64]
    ) {
        guard Self.scales.contains(scale), sum.isFinite, buckets.count <= Self.maxBuckets else { return nil }
        var count = zeroCount
        for bucket in buckets {
            let (total, overflow) = count.addingReportingOverflow(bucket)
            guard !overflow else { return nil }
            count = total
        }
        let last = Int64(offset) + Int64(buckets.count)
        let bound = Self.indexBound(ofScale: scale)
        guard Int64(offset) >= -bound, last <= bound else { return nil }
        self.init(scale: scale)
        self.count = count
        self.sum = sum
        self.min = min.flatMap { $0.isFinite ? $0 : nil }
        self.max = max.flatMap { $0.isFinite ? $0 : nil }
        self.zeroCount = zeroCount
        bucketCounts = BucketCounts(buckets, offset: offset)
    }

    /// A histogram of approximately known values, with an exact sum.
    ///
    /// - Parameters:
    ///   - values: approximate values and the number of values near each; a value of zero or less counts in
    ///     ``zeroCount``.
    ///   - sum: the sum of all values, a finite number.
    package init(
        _ values: [(value: Double, count: UInt64)], scale: Int32 = defaultScale, sum: Double, min: Double?, max: Double?
    ) {
        self.init(scale: scale)
        for (value, count) in values where count > 0 { add(count, near: value) }
        self.sum = sum
        self.min = min
        self.max = max
    }

    package var mean: Double { count == 0 ? 0 : sum / Double(count) }

    /// Adds one value. Ignores a value that is not finite.
    package mutating func record(_ value: Double) {
        guard value.isFinite else { return }
        min = Swift.min(min ?? value, value)
        max = Swift.max(max ?? value, value)
        if value > 0 { sum += value }
        add(1, near: value)
    }

    /// Adds all values of another histogram; the result has the coarser of both scales.
    package mutating func merge(_ other: ExponentialHistogram) {
        guard other.count > 0 else { return }
        if count == 0, other.scale <= scale {
            // Both histograms share the buckets until one of them changes.
            self = other
            return
        }
        var other = other
        lowerScale(to: other.scale)
        other.lowerScale(to: scale)
        addFigures(count: other.count, sum: other.sum, min: other.min, max: other.max, zeroCount: other.zeroCount)
        guard !other.bucketCounts.isEmpty else { return }
        lowerScale(toHold: other.offset, to: other.bucketCounts.last)
        other.lowerScale(to: scale)
        bucketCounts.add(other.bucketCounts)
    }

    /// Adds all values of a list of buckets. Returns `false` and adds nothing if the list is not a valid histogram.
    package mutating func merge(_ other: SparseHistogram) -> Bool {
        guard let count = other.count else { return false }
        merge(other, count: count)
        return true
    }

    /// Adds all values of a list of buckets.
    ///
    /// - Parameter otherCount: the list's ``SparseHistogram/count``. The caller computes it once, even if it adds the
    ///   list to many histograms.
    package mutating func merge(_ other: SparseHistogram, count otherCount: UInt64) {
        guard otherCount > 0 else { return }
        lowerScale(to: other.scale)
        addFigures(count: otherCount, sum: other.sum, min: other.min, max: other.max, zeroCount: other.zeroCount)
        mergeBuckets(of: other)
    }

    private mutating func addFigures(count added: UInt64, sum: Double, min: Double?, max: Double?, zeroCount: UInt64) {
        // If a side has values but no bound, the merged bound is unknown.
        self.min = count == 0 ? min : Self.combine(self.min, min, Swift.min)
        self.max = count == 0 ? max : Self.combine(self.max, max, Swift.max)
        count &+= added
        self.sum += sum
        self.zeroCount &+= zeroCount
    }

    /// Drops the buckets and keeps all other figures. No quantile is known after that.
    mutating func dropBuckets() { bucketCounts = BucketCounts() }

    private mutating func mergeBuckets(of other: SparseHistogram) {
        guard let first = other.first, let last = other.last else { return }
        var shift = other.scale - scale
        if !bucketCounts.hasRoom(from: first >> shift, to: last >> shift) {
            lowerScale(toHold: first >> shift, to: last >> shift)
            shift = other.scale - scale
            bucketCounts.makeRoom(from: first >> shift, to: last >> shift)
        }
        bucketCounts.add(other, loweredBy: shift)
    }

    /// Returns the values that a cumulative histogram gained since `earlier`, at the coarser of the two scales. `nil`
    /// if a count decreased, so that this cannot be a later state of the same histogram.
    ///
    /// Counts and sum are exact. ``min`` and ``max`` are exact if they changed. Otherwise they are the bounds of the
    /// outermost buckets, or the mean if only count and sum are known.
    package func difference(since earlier: ExponentialHistogram) -> ExponentialHistogram? {
        guard count >= earlier.count, zeroCount >= earlier.zeroCount else { return nil }
        // The sum may decrease by rounding if it was added up in another order, so it is checked only if there are no
        // buckets.
        guard !isWithoutDistribution || sum >= earlier.sum * (1 - 1e-9) else { return nil }
        var (result, old) = (self, earlier)
        result.lowerScale(to: old.scale)
        old.lowerScale(to: result.scale)
        guard let gained = result.bucketCounts.subtracting(old.bucketCounts) else { return nil }
        result.bucketCounts = gained
        result.count -= old.count
        result.zeroCount -= old.zeroCount
        result.sum = Swift.max(0, result.sum - old.sum)
        guard result.count > 0 else { return ExponentialHistogram(scale: result.scale) }
        guard earlier.count > 0 else { return result }
        let (lower, upper) =
            result.isWithoutDistribution ? (result.mean, result.mean) : (result.lowerBound, result.upperBound)
        result.min = min.map { Self.moved($0, from: earlier.min, by: <) ? $0 : clamp(lower) }?.ifFinite
        result.max = max.map { Self.moved($0, from: earlier.max, by: >) ? $0 : clamp(upper) }?.ifFinite
        return result
    }

    /// Returns the histogram in another unit. Each bucket moves to the nearest bucket of the new unit, which at most
    /// doubles the error of a quantile. The move depends on the scale, so compute the difference of two states first.
    ///
    /// - Parameter factor: positive and finite; with any other factor the histogram stays unchanged.
    package func multiplied(by factor: Double) -> ExponentialHistogram {
        guard factor > 0, factor.isFinite, factor != 1 else { return self }
        var result = self
        result.sum *= factor
        result.min = min.map { $0 * factor }
        result.max = max.map { $0 * factor }
        guard !buckets.isEmpty else { return result }
        let offset = Int64(offset) + Int64(scalbn(log2(factor), Int(scale)).rounded())
        let bound = Self.indexBound(ofScale: scale)
        let clamped = Int32(clamping: Swift.max(-bound, Swift.min(offset, bound - Int64(buckets.count))))
        result.bucketCounts = BucketCounts(buckets, offset: clamped)
        return result
    }

    /// The histogram with all values at their mean, if only count and sum are known; otherwise the histogram itself.
    package var distributed: ExponentialHistogram {
        guard isWithoutDistribution else { return self }
        return ExponentialHistogram([(mean, count)], sum: sum, min: min, max: max)
    }

    // MARK: -

    private mutating func add(_ number: UInt64, near value: Double) {
        count &+= number
        guard value > 0 else {
            zeroCount &+= number
            return
        }
        let exponent = log2(value)
        lowerScale(toHold: index(of: exponent), to: index(of: exponent))
        bucketCounts.add(number, at: index(of: exponent))
    }

    private func index(of exponent: Double) -> Int32 {
        Int32(scalbn(exponent, Int(scale)).rounded(.up)) - 1
    }

    /// Whether only count and sum are known: all values are near zero and yet have a sum.
    private var isWithoutDistribution: Bool { zeroCount == count && sum > 0 }

    /// Returns the value, kept within ``min`` and ``max``.
    func clamp(_ value: Double) -> Double {
        Swift.min(Swift.max(value, min ?? value), max ?? value)
    }

    /// The lower bound of the lowest bucket that has values.
    private var lowerBound: Double {
        zeroCount > 0 || bucketCounts.isEmpty ? 0 : exp2(scalbn(Double(offset), -Int(scale)))
    }

    private var upperBound: Double {
        bucketCounts.isEmpty ? 0 : exp2(scalbn(Double(bucketCounts.last) + 1, -Int(scale)))
    }

    private static func moved(_ bound: Double, from earlier: Double?, by isBeyond: (Double, Double) -> Bool) -> Bool {
        earlier.map { isBeyond(bound, $0) } ?? false
    }

    private static func combine(_ a: Double?, _ b: Double?, _ choose: (Double, Double) -> Double) -> Double? {
        guard let a, let b else { return nil }
        return choose(a, b)
    }

    /// Lowers the scale until the current buckets and those from `first` to `second` fit in ``maxBuckets``.
    private mutating func lowerScale(toHold first: Int32, to second: Int32) {
        lowerScale(to: scale - bucketCounts.shift(toHold: first, to: second))
    }

    /// Lowers the scale step by step: each step joins two neighbouring buckets, so that index `i` becomes `i >> 1`,
    /// exactly. Does nothing if the scale is already that low.
    package mutating func lowerScale(to target: Int32) {
        guard target < scale else { return }
        bucketCounts.join(by: scale - target)
        scale = target
    }
}

extension Double {
    /// The value, or `nil` if it is not finite: a bucket may reach beyond the range of a Double.
    fileprivate var ifFinite: Double? { isFinite ? self : nil }
}

/// Quantiles and counts of values, as exact as the buckets are.
extension ExponentialHistogram {
    /// Returns the quantile `q` (0...1) by the nearest-rank definition: the geometric middle of its bucket, kept within
    /// ``min`` and ``max``. `nil` if the histogram is empty.
    package func quantile(_ q: Double) -> Double? { quantiles([q])[0] }

    /// Returns the quantiles of several shares, in ascending order, in one walk over the buckets.
    package func quantiles(_ shares: [Double]) -> [Double?] {
        var (walked, seen) = (0, zeroCount)
        return shares.map { share in
            guard count > 0 else { return nil }
            let rank = rank(of: share)
            if rank >= count, let max { return max }
            while seen < rank, walked < buckets.count {
                seen &+= buckets[walked]
                walked += 1
            }
            return walked == 0 ? Swift.min(0, max ?? 0) : clamp(middle(of: offset + Int32(walked) - 1))
        }
    }

    /// Returns the quantiles of the sum of two histograms, like ``quantiles(_:)``, without adding them up.
    package func quantiles(_ shares: [Double], with other: ExponentialHistogram) -> [Double?] {
        if other.count == 0 { return quantiles(shares) }
        if count == 0, other.scale <= scale { return other.quantiles(shares) }
        guard count > 0, scale == other.scale, let both = BucketPair(buckets, offset, other.buckets, other.offset)
        else {
            var all = self
            all.merge(other)
            return all.quantiles(shares)
        }
        // The totals of both, without buckets.
        var all = self
        all.dropBuckets()
        var totals = other
        totals.dropBuckets()
        all.merge(totals)
        var (walked, seen) = (0, all.zeroCount)
        return shares.map { share in
            let rank = all.rank(of: share)
            if rank >= all.count, let max = all.max { return max }
            while seen < rank, walked < both.count {
                seen &+= both[walked]
                walked += 1
            }
            return walked == 0 ? Swift.min(0, all.max ?? 0) : all.clamp(all.middle(of: both.offset + Int32(walked) - 1))
        }
    }

    /// Returns the rank, from 1 on, of the value at a share of the values. The histogram must not be empty.
    private func rank(of share: Double) -> UInt64 {
        let values = (Swift.min(Swift.max(share, 0), 1) * Double(count)).rounded(.up)
        // As a Double, a very large count may round up, even past `UInt64.max`.
        return values >= Double(count) ? count : Swift.max(1, UInt64(values))
    }

    /// Returns the number of values at or below `bound`. The values of a bucket count if the bucket's middle is at or
    /// below it.
    package func countOfValues(upTo bound: Double) -> UInt64 {
        guard count > 0, bound < .infinity else { return bound == .infinity ? count : 0 }
        let last = Int64(Self.lastIndex(notAbove: bound, scale)) - Int64(offset)
        let buckets = buckets.prefix(Int(Swift.max(0, last + 1)))
        return buckets.reduce(bound >= 0 ? zeroCount : 0, &+)
    }

    private func middle(of index: Int32) -> Double { Self.middle(of: index, scale) }

    static func middle(of index: Int32, _ scale: Int32) -> Double {
        exp2(scalbn(Double(index) + 0.5, -Int(scale)))
    }

    /// Returns the index of the last bucket whose middle is not above a finite bound.
    package static func lastIndex(notAbove bound: Double, _ scale: Int32) -> Int32 {
        guard bound > 0 else { return .min }
        var index = Int32(scalbn(log2(bound), Int(scale)).rounded(.down))
        while middle(of: index + 1, scale) <= bound { index += 1 }
        while middle(of: index, scale) > bound { index -= 1 }
        return index
    }
}

/// The buckets of two histograms of one scale, added pair by pair, in ascending order.
private struct BucketPair {
    let offset: Int32
    let count: Int
    private let (one, other): ([UInt64], [UInt64])
    private let (firstOfOne, firstOfOther): (Int, Int)

    /// `nil` if their sum would have more buckets than a histogram may have.
    init?(_ one: [UInt64], _ offset: Int32, _ other: [UInt64], _ otherOffset: Int32) {
        guard !one.isEmpty, !other.isEmpty else { return nil }
        self.offset = min(offset, otherOffset)
        (firstOfOne, firstOfOther) = (Int(offset) - Int(self.offset), Int(otherOffset) - Int(self.offset))
        count = max(firstOfOne + one.count, firstOfOther + other.count)
        guard count <= ExponentialHistogram.maxBuckets else { return nil }
        (self.one, self.other) = (one, other)
    }

    subscript(index: Int) -> UInt64 {
        let (inOne, inOther) = (index - firstOfOne, index - firstOfOther)
        return (one.indices.contains(inOne) ? one[inOne] : 0) &+ (other.indices.contains(inOther) ? other[inOther] : 0)
    }
}
