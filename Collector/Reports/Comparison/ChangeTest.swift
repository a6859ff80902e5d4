/// A test of whether a share has changed from one window to the next: in the whole later window, or in a part of it.
///
/// A change within the window makes its blocks differ from each other, which looks like normal variation of the row. A test of
/// whole windows therefore misses an outage of a few minutes. So a second test compares the blocks that differ most with all
/// others, and takes the variation from the others.
struct ChangeTest: Sendable {
    /// The test of the whole windows. A verdict names its shares.
    let whole: ShareTest
    /// The test of a part, and the number of parts from which it was chosen; `nil` if the windows do not follow each other.
    private let part: (test: ShareTest, choices: Int)?

    /// The numbers of blocks in a part: 12 to 24 minutes of an hour. The test of the whole window finds a longer change.
    private static let partBlocks = [2, 3, 4]
    /// The share of the allowed false findings that is reserved for tests of parts. These look for large changes, so they need
    /// little of it.
    private static let shareOfParts = 0.02

    /// - Parameter isLater: whether one window follows the other.
    init(before: BlockMean, after: BlockMean, isLater: Bool) {
        whole = ShareTest(before: before, after: after)
        part = isLater ? Self.part(of: after, followingOn: before, isMore: whole.isMoreAfter) : nil
    }

    /// The probability of a difference at least this large if nothing has changed. `nil` if all requests have the property, or
    /// none has.
    var pValue: Double? {
        guard let result = whole.pValue else { return nil }
        guard let part, let ofPart = part.test.pValue, part.test.isMoreAfter == whole.isMoreAfter else {
            return min(result / shareOfWhole, 1)
        }
        return min(result / shareOfWhole, ofPart * Double(part.choices) / Self.shareOfParts, 1)
    }

    /// Returns the level at which ``whole`` counts when tested alongside the parts.
    func levelOfWhole(_ level: Double) -> Double { level * shareOfWhole }

    private var shareOfWhole: Double { part == nil ? 1 : 1 - Self.shareOfParts }

    /// Returns the test of the part whose share differs most from all other blocks. It has to differ in the same direction as the
    /// whole window, because a verdict names the shares of the whole.
    private static func part(
        of after: BlockMean, followingOn before: BlockMean, isMore: Bool
    ) -> (test: ShareTest, choices: Int)? {
        let all = before.followed(by: after)
        let first = before.sizes.count
        let parts = partBlocks.flatMap { length in
            (first..<max(first, all.sizes.count - length + 1)).map { $0..<$0 + length }
        }
        let distances = parts.map { isMore ? all.distance(of: $0) : -all.distance(of: $0) }
        guard let best = distances.indices.max(by: { distances[$0] < distances[$1] }) else { return nil }
        let (others, blocks) = all.divided(at: parts[best])
        return (ShareTest(of: blocks, asBlocksOf: others), parts.count)
    }
}

extension BlockMean {
    /// Returns the difference between the share of some blocks and that of all others, divided by the standard error for
    /// independent requests, and multiplied by a factor that is the same for all parts.
    fileprivate func distance(of range: Range<Int>) -> Double {
        let (inside, size) = (sums[range].reduce(0, +), sizes[range].reduce(0, +))
        let rest = self.size - size
        return (inside / size - (sum - inside) / rest) * (size * rest).squareRoot()
    }
}

extension ShareTest {
    var isMoreAfter: Bool { after.mean > before.mean }
}

/// A test of whether more requests are slow. It tests the share of requests above a quantile of both windows together. A test
/// of all durations would not notice if one request in thirty became five times slower.
enum TailTest {
    /// - Parameters:
    ///   - quantile: 0...1.
    ///   - minimum: how many requests above the quantile the test needs, in both windows together.
    /// - Returns: `nil` if too few requests are above it.
    static func share(
        above quantile: Double, atLeast minimum: Double, _ before: WindowCounts, _ after: WindowCounts, isLater: Bool
    ) -> ChangeTest? {
        let bound = bound(of: quantile, in: zip(before.totals, after.totals).map(+))
        let (before, after) = (before.share(above: bound), after.share(above: bound))
        return before.sum + after.sum >= minimum ? ChangeTest(before: before, after: after, isLater: isLater) : nil
    }

    /// Returns the number of buckets up to the bound nearest to the quantile. This is the upper bound of its bucket, or the lower
    /// one if a single bucket holds most of the slow requests, as time-outs do.
    private static func bound(of quantile: Double, in totals: [Double]) -> Int {
        let rank = quantile * totals.reduce(0, +)
        var (bucket, below) = (0, 0.0)
        while bucket < totals.count - 1, below + totals[bucket] < rank {
            below += totals[bucket]
            bucket += 1
        }
        return below + totals[bucket] - rank <= rank - below ? bucket + 1 : bucket
    }
}

/// A test of whether the share of requests with some property differs between two windows.
struct ShareTest: Sendable {
    let before: BlockMean
    let after: BlockMean
    /// The share in both windows together, 0...1.
    let pooled: Double
    /// The factor by which the variance of the difference exceeds that of independent requests, at least 1.
    let designEffect: Double
    let studentT: StudentT

    /// The exact test is used if, in a window, fewer requests than this have the property or fewer do not have it.
    private static let few = 10.0
    /// No exact test is needed if this many are expected and fewer than ``few`` are seen. This bounds the work.
    private static let many = 1000.0
    /// The exact test is exact up to this number of requests.
    private static let maxExact = 0x1p52

    init(before: BlockMean, after: BlockMean) {
        // Each window's effect is weighted by its part of the variance. For equal windows this is the mean.
        let (one, other) = (1 / before.size, 1 / after.size)
        self.init(
            before, after,
            designEffect: (before.designEffect * one + after.designEffect * other) / (one + other),
            degreesOfFreedom: before.sizes.count + after.sizes.count - 2)
    }

    /// Creates the test of whether a few blocks differ from the blocks before. A few blocks cannot show how much they vary, so
    /// the test assumes that they vary as much as the blocks before.
    init(of blocks: BlockMean, asBlocksOf before: BlockMean) {
        self.init(
            before, blocks, designEffect: before.designEffect, degreesOfFreedom: before.sizes.count - 1)
    }

    private init(_ before: BlockMean, _ after: BlockMean, designEffect: Double, degreesOfFreedom: Int) {
        self.before = before
        self.after = after
        pooled = (before.sum + after.sum) / (before.size + after.size)
        self.designEffect = max(1, designEffect)
        studentT = StudentT(degreesOfFreedom: Double(degreesOfFreedom))
    }

    /// The probability of a difference at least this large if nothing has changed. `nil` if all requests have the property, or
    /// none has: then no test could find a difference.
    var pValue: Double? {
        guard pooled > 0, pooled < 1 else { return nil }
        let isExact = before.size + after.size < Self.maxExact && (hasFewValues(before) || hasFewValues(after))
        return isExact ? exact : approximate
    }

    /// Returns the standard error of the difference between the windows.
    ///
    /// - Parameter share: the share in both together.
    func standardError(_ share: Double, designEffect: Double) -> Double {
        (designEffect * share * (1 - share) * (1 / before.size + 1 / after.size)).squareRoot()
    }

    private func hasFewValues(_ window: BlockMean) -> Bool {
        let cells = [(window.sum, pooled), (window.size - window.sum, 1 - pooled)]
        return cells.contains { seen, share in seen < Self.few && share * window.size < Self.many }
    }

    private var approximate: Double {
        studentT.twoSided((after.mean - before.mean) / standardError(pooled, designEffect: designEffect))
    }

    /// Replaces dependent requests by correspondingly fewer independent ones (Rao and Scott: "A Simple Method for the Analysis of
    /// Clustered Binary Data", Biometrics 48, 1992).
    private var exact: Double {
        func effective(_ count: Double) -> Double { (count / designEffect).rounded(.down) }
        return FisherExactTest.twoSided(
            (effective(before.sum), effective(before.size - before.sum)),
            (effective(after.sum), effective(after.size - after.sum)))
    }
}

/// The mean of a value over the requests of a window, and how much it varies from block to block. The share of requests with a
/// property is a mean of ones and zeros.
struct BlockMean: Sendable, Equatable {
    /// The sum of the values in each block.
    let sums: [Double]
    /// The number of requests in each block. To compute the variation, at least two blocks need requests.
    let sizes: [Double]
    let sum: Double
    let size: Double

    init(sums: [Double], sizes: [Double]) {
        self.sums = sums
        self.sizes = sizes
        sum = sums.reduce(0, +)
        size = sizes.reduce(0, +)
    }

    var mean: Double { sum / size }

    /// Returns the blocks outside a range, and the blocks in it.
    func divided(at range: Range<Int>) -> (BlockMean, BlockMean) {
        func outside(_ values: [Double]) -> [Double] {
            Array(values[..<range.lowerBound] + values[range.upperBound...])
        }
        return (
            BlockMean(sums: outside(sums), sizes: outside(sizes)),
            BlockMean(sums: Array(sums[range]), sizes: Array(sizes[range]))
        )
    }

    /// Returns the blocks of both windows as blocks of one window.
    func followed(by later: BlockMean) -> BlockMean {
        BlockMean(sums: sums + later.sums, sizes: sizes + later.sizes)
    }

    /// The variance of the mean, computed by leaving out each block in turn (Cochran: "Sampling Techniques", 6.17, jackknife of
    /// a ratio). For J blocks of equal size and N requests, it is J/(J-1) Σ(sum - size·mean)²/N². Even if one block is far
    /// larger than the others, it is not too small.
    var variance: Double {
        var squares = 0.0
        for (blockSum, blockSize) in zip(sums, sizes) {
            // The other blocks have at least one request, even if rounding has lost it next to a count of 2^60.
            let difference = (blockSum - blockSize * mean) / max(size - blockSize, 1)
            squares += difference * difference
        }
        return squares * (1 - 1 / Double(sizes.count))
    }

    /// The variance of a share as a multiple of its variance for independent requests (Kish's design effect); 1 for a share of 0
    /// or 1.
    var designEffect: Double {
        let independent = mean * (1 - mean) / size
        return independent > 0 ? variance / independent : 1
    }
}
