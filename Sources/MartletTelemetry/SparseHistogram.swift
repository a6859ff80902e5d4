/// An exponential histogram as a list of the buckets that have values. A decoder reads bytes into it before an
/// ``ExponentialHistogram`` adds it up. A value that is used for one histogram after another allocates no new memory.
///
/// A plain value: not synchronized.
package struct SparseHistogram: Sendable {
    package typealias Bucket = (index: Int32, count: UInt64)

    package var scale: Int32 = 0
    package var sum: Double = 0
    package var min: Double?
    package var max: Double?
    package var zeroCount: UInt64 = 0
    /// The first ``bucketCount`` elements are the buckets that have values, in ascending order of their indices. The rest
    /// is spare room.
    package var buckets: [Bucket] = []
    package var bucketCount = 0
    /// The number of values in these buckets.
    package var valuesInBuckets: UInt64 = 0

    package init() {}

    /// Makes room for `count` buckets, but for no more than a histogram can have.
    package mutating func makeRoom(forBuckets count: Int) {
        let missing = Swift.min(count, ExponentialHistogram.maxBuckets) - buckets.count
        if missing > 0 { buckets += repeatElement((index: 0, count: 0), count: missing) }
    }

    /// The number of values, including ``zeroCount``; `nil` if the list is not a valid histogram: an index that no
    /// `Double` has, a sum that is not finite, a count that overflows. The caller ensures that the buckets are in order
    /// and that ``valuesInBuckets`` is their sum.
    package var count: UInt64? {
        let bound = ExponentialHistogram.indexBound(ofScale: scale)
        guard ExponentialHistogram.scales.contains(scale), sum.isFinite, min?.isFinite != false, max?.isFinite != false,
            Int64(first ?? 0) >= -bound, Int64(last ?? 0) < bound
        else { return nil }
        let (count, isTooLarge) = zeroCount.addingReportingOverflow(valuesInBuckets)
        return isTooLarge ? nil : count
    }

    /// The lowest index of a bucket with values; `nil` if no bucket has any.
    var first: Int32? { bucketCount > 0 ? buckets[0].index : nil }
    /// The highest index of a bucket with values; `nil` if no bucket has any.
    var last: Int32? { bucketCount > 0 ? buckets[bucketCount - 1].index : nil }
}
