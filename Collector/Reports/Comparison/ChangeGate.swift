/// The smallest changes that are worth a word. With millions of requests a difference of a hundredth is certain, and nobody
/// gets up for it.
enum ChangeGate {
    /// The difference between two shares of failed requests, 0...1.
    private static let minDifference = 0.001
    /// The factor between two shares of failed requests, or of those that did not fail: of 70 and 100 % failed, the latter
    /// tells the difference.
    private static let minShareFactor = 1.5
    /// The factor between two quantiles.
    static let minQuantileFactor = 1.1

    static func passes(failures before: Double, _ after: Double) -> Bool {
        abs(after - before) >= minDifference && (isFar(before, after) || isFar(1 - before, 1 - after))
    }

    /// Returns whether two quantiles differ enough, in the direction in which a test found them to differ.
    ///
    /// - Parameter isSlower: whether the test found requests slower after.
    static func passes(quantile before: Double, _ after: Double, isSlower: Bool) -> Bool {
        isSlower
            ? after > before && after >= minQuantileFactor * before
            : before > after && before >= minQuantileFactor * after
    }

    /// Returns the smallest increase of a share of failed requests that passes.
    static func smallestIncrease(ofFailures share: Double) -> Double {
        max(minDifference, min(share * (minShareFactor - 1), (1 - share) * (1 - 1 / minShareFactor)))
    }

    private static func isFar(_ one: Double, _ other: Double) -> Bool {
        max(one, other) >= minShareFactor * min(one, other)
    }
}
