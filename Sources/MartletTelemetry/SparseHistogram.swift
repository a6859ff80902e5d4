/// An exponential histogram as a list of the buckets that have values: what bytes are read into on their way to a histogram
/// that adds up many of them. Used again and again, it allocates nothing.
///
/// A plain value: not synchronized.
package struct SparseHistogram: Sendable {
    package private(set) var scale: Int32 = 0
    /// How many values, those in ``zeroCount`` included.
    package private(set) var count: UInt64 = 0
    package private(set) var sum: Double = 0
    package private(set) var min: Double?
    package private(set) var max: Double?
    package private(set) var zeroCount: UInt64 = 0
    /// In ascending order of their indices; no value is 0.
    package private(set) var buckets: [(index: Int32, count: UInt64)] = []

    package init() {}

    /// Forgets what was there. `false` when it cannot be a histogram.
    package mutating func begin(
        scale: Int32, sum: Double, min: Double?, max: Double?, zeroCount: UInt64
    ) -> Bool {
        buckets.removeAll(keepingCapacity: true)
        self.scale = scale
        self.sum = sum
        self.min = min
        self.max = max
        self.zeroCount = zeroCount
        count = zeroCount
        return ExponentialHistogram.scales.contains(scale) && sum.isFinite && min?.isFinite != false
            && max?.isFinite != false
    }

    /// Adds a bucket behind the last one. `false` when that cannot be: an index that no `Double` has, a count that overflows.
    package mutating func append(_ values: UInt64, at index: Int64) -> Bool {
        let bound = ExponentialHistogram.indexBound(ofScale: scale)
        let (total, isTooLarge) = count.addingReportingOverflow(values)
        guard !isTooLarge, index >= -bound, index < bound, buckets.last.map({ $0.index < index }) ?? true else {
            return false
        }
        count = total
        buckets.append((Int32(index), values))
        return true
    }
}
