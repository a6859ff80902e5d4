/// The buckets of a histogram: the number of values in each, from the lowest index that was needed to the highest.
///
/// A plain value: not synchronized.
struct BucketCounts: Sendable, Equatable {
    /// The index of `counts[0]`.
    private(set) var offset: Int32 = 0
    private(set) var counts: [UInt64] = []

    var isEmpty: Bool { counts.isEmpty }
    /// The number of values in all buckets.
    var total: UInt64 { counts.reduce(0, &+) }
    /// The index of the last count.
    var last: Int32 { offset + Int32(counts.count) - 1 }

    init() {}

    /// The count of an index, which need not have a bucket.
    subscript(index: Int32) -> UInt64 {
        index >= offset && index <= last ? counts[Int(index - offset)] : 0
    }

    init(_ counts: [UInt64], offset: Int32) {
        (self.counts, self.offset) = (counts, offset)
    }

    /// - Parameters:
    ///   - first: the lowest index of the list.
    ///   - last: the highest index of the list.
    ///   - shift: the index of each bucket is shifted right by it.
    init(_ other: SparseHistogram, from first: Int32, to last: Int32, loweredBy shift: Int32) {
        makeRoom(from: first >> shift, to: last >> shift)
        add(other, loweredBy: shift)
    }

    /// Whether there is a count for both indices.
    func hasRoom(from first: Int32, to second: Int32) -> Bool { first >= offset && second <= last }

    /// Makes room for the buckets from one index to another.
    mutating func makeRoom(from first: Int32, to second: Int32) {
        reserveCapacity(from: first, to: second)
        makeRoom(for: first)
        makeRoom(for: second)
    }

    /// If the capacity is too small for the buckets, reserves a quarter more than they need: when many histograms are
    /// added up, most have values beyond the earlier ones.
    private mutating func reserveCapacity(from first: Int32, to second: Int32) {
        let low = isEmpty ? first : min(first, offset)
        let high = isEmpty ? second : max(second, last)
        let count = Int(high - low) + 1
        guard count > counts.capacity else { return }
        counts.reserveCapacity(min(count + count / 4, ExponentialHistogram.maxBuckets))
    }

    private mutating func makeRoom(for index: Int32) {
        if isEmpty {
            offset = index
            counts.append(0)
        } else if index < offset {
            counts.insert(contentsOf: repeatElement(0, count: Int(offset - index)), at: 0)
            offset = index
        } else if index > last {
            counts.append(contentsOf: repeatElement(0, count: Int(index - last)))
        }
    }

    /// Adds to the bucket of an index.
    mutating func add(_ number: UInt64, at index: Int32) {
        makeRoom(for: index)
        counts[Int(index - offset)] &+= number
    }

    /// Adds the counts of other buckets.
    mutating func add(_ other: BucketCounts) {
        makeRoom(from: other.offset, to: other.last)
        Self.add(other.counts, to: &counts, at: Int(other.offset - offset))
    }

    /// Adds the counts of a list of buckets. The index of each is shifted right by `shift`. There must be room for
    /// them.
    mutating func add(_ other: SparseHistogram, loweredBy shift: Int32) {
        Self.add(other, loweredBy: shift, to: &counts, from: offset)
    }

    // Separate functions with spans, so that the array's uniqueness is checked once and not for each bucket. The check
    // costs more than the addition.

    @inline(never)
    private static func add(_ added: [UInt64], to counts: inout [UInt64], at first: Int) {
        let source = added.span
        var target = counts.mutableSpan
        for index in source.indices { target[first &+ index] &+= source[index] }
    }

    @inline(never)
    private static func add(
        _ other: SparseHistogram, loweredBy shift: Int32, to counts: inout [UInt64], from offset: Int32
    ) {
        let (added, count) = (other.buckets.span, other.bucketCount)
        var target = counts.mutableSpan
        var index = 0
        while index < count {
            target[Int((added[index].index &>> shift) &- offset)] &+= added[index].count
            index += 1
        }
    }

    /// Returns the counts minus those of other buckets, with no empty bucket at either end; `nil` if a count would be
    /// negative.
    func subtracting(_ other: BucketCounts) -> BucketCounts? {
        var result = self
        let shift = Int(other.offset) - Int(offset)
        for (otherIndex, count) in other.counts.enumerated() where count > 0 {
            let index = otherIndex + shift
            guard counts.indices.contains(index), counts[index] >= count else { return nil }
            result.counts[index] -= count
        }
        let leading = result.counts.prefix { $0 == 0 }.count
        result.counts.removeFirst(leading)
        result.counts.removeLast(result.counts.reversed().prefix { $0 == 0 }.count)
        result.offset = result.isEmpty ? 0 : offset + Int32(leading)
        return result
    }

    /// Returns the buckets with neighbours joined, so that index `i` becomes `i >> shift`, exactly.
    func joined(by shift: Int32) -> BucketCounts {
        guard !isEmpty, shift > 0 else { return self }
        let newOffset = offset >> shift
        var joined = [UInt64](repeating: 0, count: Int((last >> shift) - newOffset) + 1)
        for (index, count) in counts.enumerated() where count > 0 {
            joined[Int(((offset + Int32(index)) >> shift) - newOffset)] &+= count
        }
        return BucketCounts(joined, offset: newOffset)
    }

    /// Returns the smallest shift for ``joined(by:)`` with which these buckets and those of two indices fit in
    /// ``ExponentialHistogram/maxBuckets``.
    func shift(toHold first: Int32, to second: Int32) -> Int32 {
        let low = isEmpty ? first : min(first, offset)
        let high = isEmpty ? second : max(second, last)
        var shift: Int32 = 0
        while Int64(high >> shift) - Int64(low >> shift) >= Int64(ExponentialHistogram.maxBuckets) { shift += 1 }
        return shift
    }
}

/// An exponential histogram as a list of its buckets that have values. A decoder reads bytes into it before an
/// ``ExponentialHistogram`` adds it up. If the value is reused for the next histogram, it allocates no memory.
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

    /// The number of values, including ``zeroCount``. `nil` if the list is not a valid histogram: an index that no
    /// `Double` has, a sum that is not finite, a count that overflows. The caller must ensure that the buckets are
    /// sorted and that ``valuesInBuckets`` is their sum.
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
