/// Spreads values that are known only at coarser scales over the buckets of a finer scale. The result depends only on the
/// counts, so stores that add them up in different orders give the same answers.
struct BucketSpread {
    /// The scale of ``result``.
    let scale: Int32
    /// The buckets so far; those of the coarsest scale come last.
    var result = BucketCounts()
    /// The distribution that values follow: that of all finer values.
    private var known: BucketCounts
    /// The smallest and the largest index that a value can have.
    private let range: ClosedRange<Int32>

    /// - Parameter histogram: the distribution that values follow.
    init(like histogram: ExponentialHistogram) {
        (scale, known) = (histogram.scale, histogram.bucketCounts)
        range = Self.range(around: known, histogram)
    }

    /// Values lie between the smallest and the largest value, and close enough to the known ones that all fit in a
    /// histogram.
    private static func range(around known: BucketCounts, _ all: ExponentialHistogram) -> ClosedRange<Int32> {
        let spare = Int32(ExponentialHistogram.maxBuckets - known.counts.count) / 2
        let (low, high) = (known.offset - spare, known.last + spare)
        let first = all.min.flatMap { all.index(ofValue: $0) }.map { min(max($0, low), known.offset) } ?? low
        let last = all.max.flatMap { all.index(ofValue: $0) }.map { max(min($0, high), known.last) } ?? high
        return first...last
    }

    /// Adds buckets of a coarser scale.
    mutating func add(_ counts: BucketCounts, of coarse: Int32) {
        let (shift, known) = (scale - coarse, known)
        for (position, count) in counts.counts.enumerated() where count > 0 {
            let index = Int64(counts.offset) + Int64(position)
            let cells = clamped(index << Int64(shift))...clamped((index + 1) << Int64(shift) - 1)
            add(count, to: cells, like: known)
        }
    }

    private func clamped(_ index: Int64) -> Int32 {
        Int32(clamping: min(max(index, Int64(range.lowerBound)), Int64(range.upperBound)))
    }

    /// Adds `count` values to `cells`. Up to as many as `known` has there follow its distribution. The others are spread evenly.
    private mutating func add(_ count: UInt64, to cells: ClosedRange<Int32>, like known: BucketCounts) {
        let found = cells.reduce(0) { $0 + Double(known[$1]) }
        let following = min(found, Double(count))
        let (byKnown, byCell) = (
            found > 0 ? following / found : 0, (Double(count) - following) / Double(cells.count)
        )
        var (upTo, placed) = (0.0, UInt64(0))
        for cell in cells {
            upTo += byKnown * Double(known[cell]) + byCell
            let next = cell == cells.upperBound || upTo >= Double(count) ? count : UInt64(upTo.rounded())
            if next > placed { add(next - placed, at: cell) }
            placed = max(placed, next)
        }
    }

    private mutating func add(_ number: UInt64, at cell: Int32) {
        result.add(number, at: cell)
        known.add(number, at: cell)
    }
}
