/// An exponential histogram as a list of the buckets that have values: what bytes are read into on their way to a histogram
/// that adds up many of them. Used again and again, it allocates nothing.
///
/// A plain value: not synchronized.
package struct SparseHistogram: Sendable {
    package var scale: Int32 = 0
    package var sum: Double = 0
    package var min: Double?
    package var max: Double?
    package var zeroCount: UInt64 = 0
    /// In ascending order of their indices; no value is 0.
    package var buckets: [(index: Int32, count: UInt64)] = []

    package init() {}

    /// How many values, those in ``zeroCount`` included; `nil` when it cannot be a histogram: an index that no `Double` has,
    /// a sum that is no number, a count that overflows. The order of the buckets is the caller's part.
    package var count: UInt64? {
        let bound = ExponentialHistogram.indexBound(ofScale: scale)
        guard ExponentialHistogram.scales.contains(scale), sum.isFinite, min?.isFinite != false, max?.isFinite != false,
            Int64(buckets.first?.index ?? 0) >= -bound, Int64(buckets.last?.index ?? 0) < bound
        else { return nil }
        var count = zeroCount
        for bucket in buckets {
            let (total, isTooLarge) = count.addingReportingOverflow(bucket.count)
            guard !isTooLarge else { return nil }
            count = total
        }
        return count
    }
}
