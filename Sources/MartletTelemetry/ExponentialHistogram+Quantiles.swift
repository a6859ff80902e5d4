#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Quantiles and counts of values, as exact as the buckets are.
extension ExponentialHistogram {
    /// Returns the quantile `q` (0...1) by the nearest-rank definition: the geometric middle of its bucket, kept within
    /// ``min`` and ``max``, and within what ``sum`` allows. `nil` if the histogram is empty.
    package func quantile(_ q: Double) -> Double? { quantiles([q])[0] }

    /// Returns the quantiles of several shares, in ascending order, in one walk over the buckets.
    package func quantiles(_ shares: [Double]) -> [Double?] {
        guard count > 0 else { return shares.map { _ in nil } }
        guard !isMixed else { return readable.quantiles(shares) }
        var (walked, seen) = (0, zeroCount)
        return shares.map { share in
            let rank = rank(of: share)
            while seen < rank, walked < buckets.count {
                seen &+= buckets[walked]
                walked += 1
            }
            return value(ofRank: rank, inBucket: walked == 0 ? nil : offset + Int32(walked) - 1)
        }
    }

    /// Returns the quantiles of the sum of two histograms, like ``quantiles(_:)``, without adding them up.
    package func quantiles(_ shares: [Double], with other: ExponentialHistogram) -> [Double?] {
        if other.count == 0 { return quantiles(shares) }
        if count == 0, other.scale <= scale { return other.quantiles(shares) }
        guard count > 0, scale == other.scale, !isMixed, !other.isMixed,
            let both = BucketPair(buckets, offset, other.buckets, other.offset)
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
            while seen < rank, walked < both.count {
                seen &+= both[walked]
                walked += 1
            }
            return all.value(ofRank: rank, inBucket: walked == 0 ? nil : both.offset + Int32(walked) - 1)
        }
    }

    /// Returns the value of a rank in the bucket of an index; `nil` for the values of zero.
    ///
    /// No value is negative. So the sum is at least that many times the value as there are values from its rank on, and the
    /// largest value is at least the mean. A sum of 0 of larger values is no sum.
    private func value(ofRank rank: UInt64, inBucket index: Int32?) -> Double {
        let isLast = rank >= count
        let known = isLast ? max : nil
        let value = known ?? index.map { clamp(middle(of: $0)) } ?? Swift.min(0, max ?? 0)
        guard sum > 0 else { return value }
        let most = sum / Double(isLast ? 1 : count - rank + 1)
        if value > most * Self.roundingUp { return most }
        return isLast && value * Self.roundingUp < mean ? mean : value
    }

    /// The histogram with all values at the finest scale that two thirds of them are known at. So quantiles have the error of
    /// most values: finer values are joined, and the coarser ones are spread.
    private var readable: ExponentialHistogram {
        var (result, scale, known) = (self, scale, bucketCounts.total)
        let all = coarser.reduce(known) { $0 &+ $1.counts.total }
        for layer in coarser where known < all / 3 * 2 {
            scale = layer.scale
            known &+= layer.counts.total
        }
        result.join(to: scale)
        return result.spread
    }

    /// Returns the rank, from 1 on, of the value at a share of the values. The histogram must not be empty.
    private func rank(of share: Double) -> UInt64 {
        let values = (Swift.min(Swift.max(share, 0), 1) * Double(count)).rounded(.up)
        // As a Double, a very large count may round up, even past `UInt64.max`.
        return values >= Double(count) ? count : Swift.max(1, UInt64(values))
    }

    /// Returns the number of values at or below `bound`. The values of a bucket count if the bucket's middle is at or
    /// below it. No more values are above it than ``sum`` allows.
    package func countOfValues(upTo bound: Double) -> UInt64 {
        guard count > 0, bound < .infinity else { return bound == .infinity ? count : 0 }
        guard !isMixed else { return readable.countOfValues(upTo: bound) }
        let last = Int64(Self.lastIndex(notAbove: bound, scale)) - Int64(offset)
        let buckets = buckets.prefix(Int(Swift.max(0, last + 1)))
        let above = bound > 0 && sum > 0 ? Swift.max(0, sum / bound) : .infinity
        let least = above < Double(count) ? count - Swift.min(count, UInt64(above)) : 0
        return Swift.max(least, buckets.reduce(bound >= 0 ? zeroCount : 0, &+))
    }

    private func middle(of index: Int32) -> Double { Self.middle(of: index, scale) }

    static func middle(of index: Int32, _ scale: Int32) -> Double {
        exp2(scalbn(Double(index) + 0.5, -Int(scale)))
    }

    /// Returns the middle of the bucket nearest to a value, among the buckets whose middle lies in a range; the value itself if
    /// there is none. A quantile is the middle of a bucket, so it then lies in the range as well.
    package static func middle(near value: Double, within range: ClosedRange<Double>, _ scale: Int32) -> Double {
        guard value > 0, value.isFinite else { return value }
        var index = Int32(scalbn(log2(value), Int(scale)).rounded(.up)) - 1
        if middle(of: index, scale) > range.upperBound { index -= 1 }
        if middle(of: index, scale) <= range.lowerBound { index += 1 }
        let found = middle(of: index, scale)
        return found > range.lowerBound && found <= range.upperBound ? found : value
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
