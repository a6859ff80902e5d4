/// An exponential histogram as a list of the buckets that have values: what bytes are read into on their way to a histogram
/// that adds up many of them. Used again and again, it allocates nothing.
///
/// A plain value: not synchronized.
package struct SparseHistogram: Sendable {
    package typealias Bucket = (index: Int32, count: UInt64)

    package var scale: Int32 = 0
    package var sum: Double = 0
    package var min: Double?
    package var max: Double?
    package var zeroCount: UInt64 = 0
    /// The first ``bucketCount`` are the buckets that have values, in ascending order of their indices; the rest is room.
    package var buckets: [Bucket] = []
    package var bucketCount = 0
    /// How many values these buckets have in all.
    package var valuesInBuckets: UInt64 = 0

    package init() {}

    /// Makes room for so many buckets, and no more than a histogram can have.
    package mutating func makeRoom(forBuckets count: Int) {
        let missing = Swift.min(count, ExponentialHistogram.maxBuckets) - buckets.count
        if missing > 0 { buckets += repeatElement((index: 0, count: 0), count: missing) }
    }

    /// How many values, those in ``zeroCount`` included; `nil` when it cannot be a histogram: an index that no `Double` has,
    /// a sum that is no number, a count that overflows. That the buckets are in order, and what they have in all, is the
    /// caller's part.
    package var count: UInt64? {
        let bound = ExponentialHistogram.indexBound(ofScale: scale)
        guard ExponentialHistogram.scales.contains(scale), sum.isFinite, min?.isFinite != false, max?.isFinite != false,
            Int64(first ?? 0) >= -bound, Int64(last ?? 0) < bound
        else { return nil }
        let (count, isTooLarge) = zeroCount.addingReportingOverflow(valuesInBuckets)
        return isTooLarge ? nil : count
    }

    /// The lowest index of a value; `nil` where none has one.
    var first: Int32? { bucketCount > 0 ? buckets[0].index : nil }
    /// The highest.
    var last: Int32? { bucketCount > 0 ? buckets[bucketCount - 1].index : nil }
}
