#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A distribution of positive values in exponentially growing buckets: the one sketch of the wire, the store and the
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

    /// The maximum number of buckets. Beyond it the scale is lowered, as the specification has it. At the default scale
    /// only values more than 32 binary orders of magnitude apart reach it.
    package static let maxBuckets = 4096

    /// The scales that senders use according to the specification.
    package static let scales: ClosedRange<Int32> = -10...20

    /// Returns a bound that the index of no `Double` reaches: the exponents of a `Double` are from -1074 to 1023.
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
    /// The index of `buckets[0]`.
    package private(set) var offset: Int32 = 0
    package private(set) var buckets: [UInt64] = []

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
        self.offset = offset
        self.buckets = buckets
    }

    /// A histogram of values that are known approximately, with an exact sum.
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
        // If a side has values but no bound, the merged bound is unknown.
        min = count == 0 ? other.min : Self.combine(min, other.min, Swift.min)
        max = count == 0 ? other.max : Self.combine(max, other.max, Swift.max)
        count &+= other.count
        sum += other.sum
        zeroCount &+= other.zeroCount
        guard !other.buckets.isEmpty else { return }
        lowerScale(toHold: other.offset, to: other.last)
        other.lowerScale(to: scale)
        reserveRoom(from: other.offset, to: other.last)
        makeRoom(for: other.offset)
        makeRoom(for: other.last)
        Self.add(other.buckets, to: &buckets, at: Int(other.offset - offset))
    }

    /// Adds all values of a list of buckets. Returns `false` and adds nothing if the list is not a valid histogram.
    package mutating func merge(_ other: SparseHistogram) -> Bool {
        guard let count = other.count else { return false }
        merge(other, count: count)
        return true
    }

    /// Adds all values of a list of buckets.
    ///
    /// - Parameter otherCount: the list's ``SparseHistogram/count``, which is worked out once if many histograms add the list up.
    package mutating func merge(_ other: SparseHistogram, count otherCount: UInt64) {
        mergeFigures(of: other, count: otherCount)
        if otherCount > 0 { mergeBuckets(of: other) }
    }

    /// Adds all values of a list of buckets and leaves its buckets out: count, sum and bounds are exact, and no quantile is known
    /// until ``takeBuckets(of:)``.
    ///
    /// - Parameter otherCount: the list's ``SparseHistogram/count``.
    package mutating func mergeFigures(of other: SparseHistogram, count otherCount: UInt64) {
        guard otherCount > 0 else { return }
        lowerScale(to: other.scale)
        min = count == 0 ? other.min : Self.combine(min, other.min, Swift.min)
        max = count == 0 ? other.max : Self.combine(max, other.max, Swift.max)
        count &+= otherCount
        sum += other.sum
        zeroCount &+= other.zeroCount
    }

    /// Takes the scale and the buckets of a histogram of the same values.
    package mutating func takeBuckets(of other: ExponentialHistogram) {
        (scale, offset, buckets) = (other.scale, other.offset, other.buckets)
    }

    /// Drops the buckets: see ``mergeFigures(of:)``.
    package mutating func dropBuckets() { (offset, buckets) = (0, []) }

    private mutating func mergeBuckets(of other: SparseHistogram) {
        guard let first = other.first, let last = other.last else { return }
        let shift = other.scale - scale
        if first >> shift < offset || last >> shift > self.last {
            lowerScale(toHold: first >> shift, to: last >> shift)
            reserveRoom(from: first >> (other.scale - scale), to: last >> (other.scale - scale))
            makeRoom(for: first >> (other.scale - scale))
            makeRoom(for: last >> (other.scale - scale))
        }
        Self.add(other, loweredBy: other.scale - scale, to: &buckets, from: offset)
    }

    // These are functions of their own so that the compiler checks once, and not for each bucket, whether it may change
    // the array in place. That check takes longer than the addition, and through a span it is made once.

    @inline(never)
    private static func add(_ added: [UInt64], to buckets: inout [UInt64], at first: Int) {
        let source = added.span
        var target = buckets.mutableSpan
        for index in source.indices { target[first &+ index] &+= source[index] }
    }

    @inline(never)
    private static func add(
        _ other: SparseHistogram, loweredBy shift: Int32, to buckets: inout [UInt64], from offset: Int32
    ) {
        let (added, count) = (other.buckets.span, other.bucketCount)
        var target = buckets.mutableSpan
        var index = 0
        while index < count {
            target[Int((added[index].index &>> shift) &- offset)] &+= added[index].count
            index += 1
        }
    }

    /// Returns the values that a cumulative histogram gained since `earlier`, at the coarser of the two scales; `nil` if
    /// a count fell, so that this cannot be a later state of the same histogram.
    ///
    /// Counts and sum are exact. ``min`` and ``max`` are exact if they moved. Otherwise they are the bounds of the
    /// outermost buckets, or the mean if only count and sum are known.
    package func difference(since earlier: ExponentialHistogram) -> ExponentialHistogram? {
        guard count >= earlier.count, zeroCount >= earlier.zeroCount else { return nil }
        // A sum that was added up in another order falls by its rounding, so it decides only where there are no buckets.
        guard !isWithoutDistribution || sum >= earlier.sum * (1 - 1e-9) else { return nil }
        var (result, old) = (self, earlier)
        result.lowerScale(to: old.scale)
        old.lowerScale(to: result.scale)
        let shift = Int(old.offset) - Int(result.offset)
        for (oldIndex, bucket) in old.buckets.enumerated() where bucket > 0 {
            let index = oldIndex + shift
            guard result.buckets.indices.contains(index), result.buckets[index] >= bucket else { return nil }
            result.buckets[index] -= bucket
        }
        result.count -= old.count
        result.zeroCount -= old.zeroCount
        result.sum = Swift.max(0, result.sum - old.sum)
        result.trim()
        guard result.count > 0 else { return ExponentialHistogram(scale: result.scale) }
        guard earlier.count > 0 else { return result }
        let (lower, upper) =
            result.isWithoutDistribution ? (result.mean, result.mean) : (result.lowerBound, result.upperBound)
        result.min = min.map { Self.moved($0, from: earlier.min, by: <) ? $0 : clamp(lower) }?.ifFinite
        result.max = max.map { Self.moved($0, from: earlier.max, by: >) ? $0 : clamp(upper) }?.ifFinite
        return result
    }

    /// Returns the histogram in another unit. Each bucket moves to the nearest bucket of the new unit, which at most
    /// doubles the error of a quantile. The move depends on the scale, so the difference of two states must be taken
    /// first.
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
        result.offset = Int32(clamping: Swift.max(-bound, Swift.min(offset, bound - Int64(buckets.count))))
        return result
    }

    /// The histogram with all values at their mean if only count and sum are known; otherwise the histogram itself.
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
        let index = index(of: exponent)
        makeRoom(for: index)
        buckets[Int(index - offset)] &+= number
    }

    private var last: Int32 { offset + Int32(buckets.count) - 1 }

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
        zeroCount > 0 || buckets.isEmpty ? 0 : exp2(scalbn(Double(offset), -Int(scale)))
    }

    private var upperBound: Double { buckets.isEmpty ? 0 : exp2(scalbn(Double(last) + 1, -Int(scale))) }

    private static func moved(_ bound: Double, from earlier: Double?, by isBeyond: (Double, Double) -> Bool) -> Bool {
        earlier.map { isBeyond(bound, $0) } ?? false
    }

    /// Removes the empty buckets at either end.
    private mutating func trim() {
        let leading = buckets.prefix { $0 == 0 }.count
        buckets.removeFirst(leading)
        buckets.removeLast(buckets.reversed().prefix { $0 == 0 }.count)
        offset = buckets.isEmpty ? 0 : offset + Int32(leading)
    }

    private static func combine(_ a: Double?, _ b: Double?, _ choose: (Double, Double) -> Double) -> Double? {
        guard let a, let b else { return nil }
        return choose(a, b)
    }

    private mutating func makeRoom(for index: Int32) {
        if buckets.isEmpty {
            offset = index
            buckets.append(0)
        } else if index < offset {
            buckets.insert(contentsOf: repeatElement(0, count: Int(offset - index)), at: 0)
            offset = index
        } else if index > last {
            buckets.append(contentsOf: repeatElement(0, count: Int(index - last)))
        }
    }

    /// Reserves a quarter more than the capacity that the present buckets and those from `first` to `second` need, if they have
    /// less than they need: when many histograms are added up, most have values beyond the earlier ones.
    private mutating func reserveRoom(from first: Int32, to second: Int32) {
        let low = buckets.isEmpty ? first : Swift.min(first, offset)
        let high = buckets.isEmpty ? second : Swift.max(second, last)
        let count = Int(high - low) + 1
        guard count > buckets.capacity else { return }
        buckets.reserveCapacity(Swift.min(count + count / 4, Self.maxBuckets))
    }

    /// Lowers the scale until the present buckets and those from `first` to `second` fit into ``maxBuckets``.
    private mutating func lowerScale(toHold first: Int32, to second: Int32) {
        let low = Swift.min(first, buckets.isEmpty ? first : offset)
        let high = Swift.max(second, buckets.isEmpty ? second : last)
        var shift: Int32 = 0
        while Int64(high >> shift) - Int64(low >> shift) >= Int64(Self.maxBuckets) { shift += 1 }
        lowerScale(to: scale - shift)
    }

    /// Lowers the scale step by step: each step joins two neighbouring buckets, so that index `i` becomes `i >> 1`,
    /// exactly. Nothing changes if the scale is that low already.
    package mutating func lowerScale(to target: Int32) {
        guard target < scale else { return }
        let shift = scale - target
        scale = target
        guard !buckets.isEmpty else { return }
        let newOffset = offset >> shift
        var joined = [UInt64](repeating: 0, count: Int((last >> shift) - newOffset) + 1)
        for (index, bucket) in buckets.enumerated() where bucket > 0 {
            joined[Int(((offset + Int32(index)) >> shift) - newOffset)] &+= bucket
        }
        offset = newOffset
        buckets = joined
    }
}

extension Double {
    /// The value, or `nil` if it is not finite: a bucket may reach beyond the range of a Double.
    fileprivate var ifFinite: Double? { isFinite ? self : nil }
}
