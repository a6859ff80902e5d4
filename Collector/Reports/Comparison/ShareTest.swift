/// A test of whether the share of requests with some property differs between two windows.
struct ShareTest: Sendable {
    let before: BlockMean
    let after: BlockMean
    /// The share in both windows together, 0...1.
    let pooled: Double
    /// The factor by which the variance of the difference exceeds that of independent requests, at least 1.
    let designEffect: Double
    let studentT: StudentT

    /// Below this number of requests with or without the property in a window, the exact test is used.
    private static let few = 10.0
    /// Where as many are expected and fewer than ``few`` are seen, no exact test is needed; so its work is bounded.
    private static let many = 1000.0
    /// The number of requests up to which the exact test is exact.
    private static let maxExact = 0x1p52

    init(before: BlockMean, after: BlockMean) {
        // Each window's effect weighs as much as its part of the variance; if the windows are equal, this is the mean.
        let (one, other) = (1 / before.size, 1 / after.size)
        self.init(
            before, after,
            designEffect: (before.designEffect * one + after.designEffect * other) / (one + other),
            degreesOfFreedom: before.sizes.count + after.sizes.count - 2)
    }

    /// Creates the test of whether a few blocks differ from those before. They are too few to show how much they vary, so they are
    /// expected to vary as those do.
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
        let isExact = before.size + after.size < Self.maxExact && (isOfFew(before) || isOfFew(after))
        return isExact ? exact : approximate
    }

    /// Returns the standard error of the difference between the windows.
    ///
    /// - Parameter share: the share in both together.
    func standardError(_ share: Double, designEffect: Double) -> Double {
        (designEffect * share * (1 - share) * (1 / before.size + 1 / after.size)).squareRoot()
    }

    private func isOfFew(_ window: BlockMean) -> Bool {
        let cells = [(window.sum, pooled), (window.size - window.sum, 1 - pooled)]
        return cells.contains { seen, share in seen < Self.few && share * window.size < Self.many }
    }

    private var approximate: Double {
        studentT.twoSided((after.mean - before.mean) / standardError(pooled, designEffect: designEffect))
    }

    /// Takes requests that depend on each other for so many fewer independent ones (Rao and Scott: "A Simple Method for the
    /// Analysis of Clustered Binary Data", Biometrics 48, 1992).
    private var exact: Double {
        func effective(_ count: Double) -> Double { (count / designEffect).rounded(.down) }
        return FisherExactTest.twoSided(
            (effective(before.sum), effective(before.size - before.sum)),
            (effective(after.sum), effective(after.size - after.sum)))
    }
}
