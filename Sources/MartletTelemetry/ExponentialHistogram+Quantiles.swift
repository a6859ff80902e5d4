#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where its values lie, as far as the buckets tell.
extension ExponentialHistogram {
    /// The value below or at which a share `q` (0...1) of the values lie, by the nearest-rank definition; `nil` when
    /// there are none. The geometric middle of the bucket, kept within ``min`` and ``max``.
    package func quantile(_ q: Double) -> Double? { quantiles([q])[0] }

    /// The same of several shares in ascending order, which one walk over the buckets finds.
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

    /// The place, from 1 on, of the value at which a share of them lies, where there are some.
    private func rank(of share: Double) -> UInt64 {
        let values = (Swift.min(Swift.max(share, 0), 1) * Double(count)).rounded(.up)
        // The nearest Double to a very large count may be larger than it, and than any UInt64.
        return values >= Double(count) ? count : Swift.max(1, UInt64(values))
    }

    /// How many values are at or below `bound`, as far as the buckets tell: a bucket counts when its middle does.
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

    /// The last bucket whose middle is not above a finite bound.
    static func lastIndex(notAbove bound: Double, _ scale: Int32) -> Int32 {
        guard bound > 0 else { return .min }
        var index = Int32(scalbn(log2(bound), Int(scale)).rounded(.down))
        while middle(of: index + 1, scale) <= bound { index += 1 }
        while middle(of: index, scale) > bound { index -= 1 }
        return index
    }
}
