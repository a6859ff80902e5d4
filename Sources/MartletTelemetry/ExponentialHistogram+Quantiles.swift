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
    /// ``min`` and ``max``. `nil` if the histogram is empty.
    package func quantile(_ q: Double) -> Double? { quantiles([q])[0] }

    /// Returns the quantiles of several shares, in ascending order, with one walk over the buckets.
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

    /// Returns the quantiles that the sum of two histograms has, as ``quantiles(_:)`` does, without adding them up.
    package func quantiles(_ shares: [Double], with other: ExponentialHistogram) -> [Double?] {
        if other.count == 0 { return quantiles(shares) }
        if count == 0, other.scale <= scale { return other.quantiles(shares) }
        guard count > 0, scale == other.scale, let both = BucketPair(buckets, offset, other.buckets, other.offset)
        else {
            var all = self
            all.merge(other)
            return all.quantiles(shares)
        }
        // The totals of both, and no buckets.
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
        // The Double nearest to a very large count may be larger than the count, and than any UInt64.
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

/// The buckets of two histograms of one scale, one after the other in ascending order.
private struct BucketPair {
    let offset: Int32
    let count: Int
    private let (one, other): ([UInt64], [UInt64])
    private let (firstOfOne, firstOfOther): (Int, Int)

    /// Creates nothing if their sum would have more buckets than a histogram has.
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
