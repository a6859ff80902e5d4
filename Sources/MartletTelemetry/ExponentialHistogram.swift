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
/// defines it (specification, "Metrics Data Model", section ExponentialHistogram). Histograms merge without any error, in
/// any order: values of a coarser scale keep their own buckets, and only a reader spreads them over the finer ones
/// (``spread``). At ``defaultScale`` the base is 1.00543, so a quantile is within 0.28 % of the exact value.
///
/// A plain value: not synchronized.
package struct ExponentialHistogram: Sendable, Equatable {
    /// The scale at which Martlet records: a quantile is within 0.28 % of the exact value.
    package static let defaultScale: Int32 = 7

    /// The maximum number of buckets of all scales together. Above it the scale is lowered, as in the specification. At
    /// the default scale only values more than 32 binary orders of magnitude apart reach it.
    package static let maxBuckets = 4096

    /// The scales that senders use according to the specification.
    package static let scales: ClosedRange<Int32> = -10...20

    /// Returns a bound that no index of a `Double` reaches: the exponents of a `Double` are from -1074 to 1023.
    static func indexBound(ofScale scale: Int32) -> Int64 { Int64(1100) << Int64(Swift.max(scale, 0)) }

    /// The scale of ``buckets``: the finest of all values.
    package private(set) var scale: Int32
    /// Finer values are added at this scale, unless all values are finer.
    private var finest: Int32
    /// The number of values, including ``zeroCount``.
    package private(set) var count: UInt64 = 0
    package private(set) var sum: Double = 0
    /// The exact smallest and largest value; `nil` if the histogram is empty or the sender left them out.
    package private(set) var min: Double?
    package private(set) var max: Double?
    /// The number of values that are zero or less.
    package private(set) var zeroCount: UInt64 = 0
    private(set) var bucketCounts = BucketCounts()
    /// The buckets of values that are known only at coarser scales, from the finest scale on. Usually empty.
    private(set) var coarser: [Layer] = []

    struct Layer: Sendable, Equatable {
        var scale: Int32
        var counts: BucketCounts
    }

    /// The index of `buckets[0]`.
    package var offset: Int32 { bucketCounts.offset }
    /// The number of values in each bucket of ``scale``, from the lowest to the highest that was needed.
    package var buckets: [UInt64] { bucketCounts.counts }
    /// The number of buckets of all scales.
    package var bucketCount: Int { coarser.reduce(bucketCounts.counts.count) { $0 + $1.counts.counts.count } }
    /// Whether some values are known only at a coarser scale than ``scale``.
    package var isMixed: Bool { !coarser.isEmpty }

    package init(scale: Int32 = ExponentialHistogram.defaultScale) {
        self.scale = scale
        finest = Swift.min(scale, Self.defaultScale)
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
        finest = Self.defaultScale
        limitBounds()
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
        finest = Self.defaultScale
        self.sum = sum
        self.min = min
        self.max = max
        limitBounds()
    }

    /// ``finest`` does not count: it says nothing of the values.
    package static func == (one: ExponentialHistogram, other: ExponentialHistogram) -> Bool {
        one.scale == other.scale && one.count == other.count && one.sum == other.sum && one.min == other.min
            && one.max == other.max && one.zeroCount == other.zeroCount && one.bucketCounts == other.bucketCounts
            && one.coarser == other.coarser
    }

    package var mean: Double { count == 0 ? 0 : sum / Double(count) }

    /// The values of each scale, which merge to this histogram. The first part has the sum and the values of zero.
    package var parts: [ExponentialHistogram] {
        guard !coarser.isEmpty else { return [self] }
        var first = self
        first.coarser = []
        first.count = bucketCounts.counts.reduce(zeroCount, &+)
        return [first]
            + coarser.map { layer in
                var part = ExponentialHistogram(scale: layer.scale)
                (part.bucketCounts, part.count) = (layer.counts, layer.counts.counts.reduce(0, &+))
                (part.min, part.max) = (min, max)
                return part
            }
    }

    /// The histogram with all values at its coarsest scale.
    package var joined: ExponentialHistogram {
        var result = self
        if let last = coarser.last { result.join(to: last.scale) }
        return result
    }

    /// The histogram with all values at its finest scale: see ``spread(like:)``.
    package var spread: ExponentialHistogram { spread(like: self) }

    /// Returns the histogram with all values at the scale of another histogram. Does nothing to values of finer scales.
    ///
    /// As many values of a coarse bucket as the other histogram has there follow its distribution. The others are spread evenly.
    package func spread(like other: ExponentialHistogram) -> ExponentialHistogram {
        guard isMixed || scale < other.scale, !other.bucketCounts.isEmpty else { return self }
        var (result, spread) = (self, BucketSpread(like: other))
        result.join(to: other.scale)
        if result.scale == other.scale {
            spread.result = result.bucketCounts
        } else {
            spread.add(result.bucketCounts, of: result.scale)
        }
        for layer in result.coarser { spread.add(layer.counts, of: layer.scale) }
        (result.scale, result.bucketCounts, result.coarser) = (spread.scale, spread.result, [])
        return result
    }

    /// Adds one value. Ignores a value that is not finite.
    package mutating func record(_ value: Double) {
        guard value.isFinite else { return }
        min = Swift.min(min ?? value, value)
        max = Swift.max(max ?? value, value)
        if value > 0 { sum += value }
        add(1, near: value)
    }

    /// Adds all values of another histogram.
    package mutating func merge(_ other: ExponentialHistogram) {
        guard other.count > 0 else { return }
        if count == 0, other.scale <= scale {
            // Both histograms share the buckets until one of them changes.
            let finest = finest
            self = other
            self.finest = finest
            return
        }
        addFigures(count: other.count, sum: other.sum, min: other.min, max: other.max, zeroCount: other.zeroCount)
        merge(other.bucketCounts, of: other.scale)
        for layer in other.coarser { merge(layer.counts, of: layer.scale) }
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
    mutating func dropBuckets() { (bucketCounts, coarser) = (BucketCounts(), []) }

    private mutating func mergeBuckets(of other: SparseHistogram) {
        guard let first = other.first, let last = other.last else { return }
        let level = prepare(for: other.scale)
        var shift = other.scale - level
        guard level == scale, bucketCounts.shift(toHold: first >> shift, to: last >> shift) == 0 else {
            shift += BucketCounts().shift(toHold: first >> shift, to: last >> shift)
            return merge(BucketCounts(other, from: first, to: last, loweredBy: shift), of: other.scale - shift)
        }
        if !bucketCounts.hasRoom(from: first >> shift, to: last >> shift) {
            bucketCounts.makeRoom(from: first >> shift, to: last >> shift)
        }
        bucketCounts.add(other, loweredBy: shift)
        lowerScaleOfTooMany()
    }

    /// Returns the scale at which values of another scale are added. If all values are finer than ``finest``, it is the
    /// coarser of both scales.
    private mutating func prepare(for added: Int32) -> Int32 {
        let most = Swift.max(finest, Swift.min(scale, added))
        join(to: most)
        let level = Swift.min(added, most)
        if bucketCounts.isEmpty { scale = Swift.min(scale, level) }
        return level
    }

    private mutating func merge(_ added: BucketCounts, of addedScale: Int32) {
        guard !added.isEmpty else { return }
        let level = prepare(for: addedScale)
        add(added.joined(by: addedScale - level), at: level)
    }

    /// Adds buckets to those of their scale.
    private mutating func add(_ added: BucketCounts, at level: Int32) {
        guard !added.isEmpty else { return }
        if level > scale { insert(Layer(scale: level, counts: BucketCounts()), at: -1) }
        let index = level == scale ? -1 : coarser.firstIndex { $0.scale <= level } ?? coarser.count
        if level < scale, index == coarser.count || coarser[index].scale < level {
            insert(Layer(scale: level, counts: BucketCounts()), at: index)
        }
        let shift = (index < 0 ? bucketCounts : coarser[index].counts).shift(toHold: added.offset, to: added.last)
        guard shift == 0 else {
            lowerScale(to: level - shift)
            return add(added.joined(by: shift), at: level - shift)
        }
        if index < 0 { bucketCounts.add(added) } else { coarser[index].counts.add(added) }
        lowerScaleOfTooMany()
    }

    /// Inserts a layer; at -1 it becomes that of ``buckets``.
    private mutating func insert(_ layer: Layer, at index: Int) {
        guard index < 0 else { return coarser.insert(layer, at: index) }
        if !bucketCounts.isEmpty { coarser.insert(Layer(scale: scale, counts: bucketCounts), at: 0) }
        (scale, bucketCounts) = (layer.scale, layer.counts)
    }

    private mutating func lowerScaleOfTooMany() {
        while !coarser.isEmpty, bucketCount > Self.maxBuckets { lowerScale(to: scale - 1) }
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
        var (result, old) = (joined, earlier.joined)
        result.lowerScale(to: old.scale)
        old.lowerScale(to: result.scale)
        guard let gained = result.bucketCounts.subtracting(old.bucketCounts) else { return nil }
        result.bucketCounts = gained
        result.count -= old.count
        result.zeroCount -= old.zeroCount
        result.sum = Swift.max(0, result.sum - old.sum)
        result.finest = Self.defaultScale
        guard result.count > 0 else { return ExponentialHistogram(scale: result.scale) }
        guard earlier.count > 0 else { return result }
        let (lower, upper) =
            result.isWithoutDistribution ? (result.mean, result.mean) : (result.lowerBound, result.upperBound)
        result.min = min.map { Self.moved($0, from: earlier.min, by: <) ? $0 : clamp(lower) }?.ifFinite
        result.max = max.map { Self.moved($0, from: earlier.max, by: >) ? $0 : clamp(upper) }?.ifFinite
        result.limitBounds()
        return result
    }

    /// Returns the histogram in another unit. Each bucket moves to the nearest bucket of the new unit, which at most
    /// doubles the error of a quantile. The move depends on the scale, so compute the difference of two states first.
    ///
    /// - Parameter factor: positive and finite; with any other factor the histogram stays unchanged.
    package func multiplied(by factor: Double) -> ExponentialHistogram {
        guard factor > 0, factor.isFinite, factor != 1 else { return self }
        var result = joined
        result.sum *= factor
        result.min = min.map { $0 * factor }
        result.max = max.map { $0 * factor }
        guard !result.buckets.isEmpty else { return result }
        let offset = Int64(result.offset) + Int64(scalbn(log2(factor), Int(result.scale)).rounded())
        let bound = Self.indexBound(ofScale: result.scale)
        let clamped = Int32(clamping: Swift.max(-bound, Swift.min(offset, bound - Int64(result.buckets.count))))
        result.bucketCounts = BucketCounts(result.buckets, offset: clamped)
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

    /// Returns the index of the bucket of ``scale`` that holds the value; `nil` for zero.
    func index(ofValue value: Double) -> Int32? { value > 0 ? index(of: log2(value)) : nil }

    /// Whether only count and sum are known: all values are near zero and yet have a sum.
    private var isWithoutDistribution: Bool { zeroCount == count && sum > 0 }

    /// Returns the value, kept within ``min`` and ``max``.
    func clamp(_ value: Double) -> Double {
        Swift.min(Swift.max(value, min ?? value), max ?? value)
    }

    /// Corrects bounds that the sum rules out: no value is larger than the sum of all, and the mean lies between the
    /// bounds. Some senders report the largest value since their start with the values of an interval.
    private mutating func limitBounds() {
        guard count > 0 else { return }
        min = min.map { $0 > mean * Self.roundingUp ? mean : $0 }
        max = max.map { $0 > sum * Self.roundingUp ? sum : $0 * Self.roundingUp < mean ? mean : $0 }
    }

    /// Rounding never makes a sum that many times too small.
    static let roundingUp = 1 + 1e-9

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
        let shift = bucketCounts.shift(toHold: first, to: second)
        if shift > 0 { lowerScale(to: scale - shift) }
    }

    /// Lowers the scale of finer values, including those added later. Does nothing to coarser ones.
    package mutating func lowerScale(to target: Int32) {
        finest = Swift.min(finest, target)
        join(to: target)
    }

    /// Lowers the scale of finer values step by step: each step joins two neighbouring buckets, so that index `i` becomes
    /// `i >> 1`, exactly.
    mutating func join(to target: Int32) {
        guard target < scale else { return }
        bucketCounts = bucketCounts.joined(by: scale - target)
        scale = target
        while let layer = coarser.first, layer.scale >= target {
            coarser.removeFirst()
            add(layer.counts.joined(by: layer.scale - target), at: target)
        }
    }
}

extension Double {
    /// The value, or `nil` if it is not finite: a bucket may reach beyond the range of a Double.
    fileprivate var ifFinite: Double? { isFinite ? self : nil }
}
