/// A test of whether more requests are slow: of the share above a quantile of both windows together. A test of all durations
/// does not see it if one request in thirty becomes five times slower.
enum TailTest {
    /// - Parameters:
    ///   - quantile: 0...1.
    ///   - minimum: the requests above the quantile, in both windows together, that the test needs.
    /// - Returns: `nil` if too few requests are above it.
    static func share(
        above quantile: Double, atLeast minimum: Double, _ before: WindowCounts, _ after: WindowCounts, isLater: Bool
    ) -> ChangeTest? {
        let bound = bound(of: quantile, in: zip(before.totals, after.totals).map(+))
        let (before, after) = (before.share(above: bound), after.share(above: bound))
        return before.sum + after.sum >= minimum ? ChangeTest(before: before, after: after, isLater: isLater) : nil
    }

    /// Returns the number of buckets up to the bound that is nearest to the quantile: the upper one of its bucket, or the
    /// lower one where a single bucket has most of the slow requests, as time-outs do.
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
