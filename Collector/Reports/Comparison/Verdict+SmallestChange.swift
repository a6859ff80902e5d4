import MartletTelemetry

extension Verdict.SmallestChange {
    /// The part of the cases in which a change of this size is not found, if the standard error is exact. It is an estimate from
    /// ten blocks, so the measured part is 0.09 to 0.17 (docs/comparison.md).
    private static let missed = 0.1

    /// Works out the smallest changes that are found: their figure is far enough above what counts, and above what is worth a
    /// word, that chance rarely brings it below.
    ///
    /// - Parameters:
    ///   - failures: the test of the share of failed requests.
    ///   - tail: the test of p95; `nil` if it has too few requests.
    ///   - durations: those of both windows together.
    init(failures: ChangeTest, tail: ChangeTest?, durations: ExponentialHistogram, levels: RowTests.Levels) {
        self.failures = Self.increase(seenBy: failures.whole, level: failures.levelOfWhole(levels.failures))
        p95 = tail.flatMap {
            Self.growth(seenBy: $0.whole, durations, level: $0.levelOfWhole(levels.durations))
        }
    }

    private static func increase(seenBy test: ShareTest, level: Double) -> Double? {
        let critical = test.studentT.critical(level)
        let chance = test.studentT.critical(2 * missed)
        let worthAWord = ChangeGate.smallestIncrease(ofFailures: test.pooled)
        return smallest(upTo: 1 - test.pooled) { increase in
            let error = test.standardError(increase: increase)
            return increase - chance * error >= max(critical * error, worthAWord)
        }
    }

    /// All durations grow by the same factor until the share above the bound of p95 differs enough.
    private static func growth(seenBy test: ShareTest, _ durations: ExponentialHistogram, level: Double) -> Double? {
        let error = test.standardError(test.pooled, designEffect: test.designEffect)
        let chance = test.studentT.critical(2 * missed) * error
        guard let byChance = test.growth(for: chance, of: durations),
            let seen = test.growth(for: chance + test.studentT.critical(level) * error, of: durations)
        else { return nil }
        return max(seen, byChance * ChangeGate.minQuantileFactor) - 1
    }

    /// Returns the smallest value that is seen, where all larger ones are seen as well; `nil` if not even the largest is.
    private static func smallest(upTo largest: Double, isSeen: (Double) -> Bool) -> Double? {
        guard isSeen(largest) else { return nil }
        var (low, high) = (0.0, largest)
        for _ in 0..<40 {
            let middle = (low + high) / 2
            if isSeen(middle) { high = middle } else { low = middle }
        }
        return high
    }
}

extension ShareTest {
    private var weight: Double { after.size / (before.size + after.size) }

    /// Returns the standard error if the share after is larger than the pooled one by `increase`.
    ///
    /// Where some blocks have more failures than others, a larger share varies more as well: as if the logarithm of the odds
    /// varied as much as now.
    fileprivate func standardError(increase: Double) -> Double {
        let spread = pooled * (1 - pooled)
        let grown = (pooled + increase) * (1 - pooled - increase)
        let factor = spread > 0 ? (1 + grown / spread) / 2 : 1
        return standardError(pooled + weight * increase, designEffect: 1 + (designEffect - 1) * factor)
    }

    /// Returns the factor by which all durations after have to exceed those before, so that the shares differ by `difference`.
    /// `nil` if the share before would have to be below 0.
    fileprivate func growth(for difference: Double, of durations: ExponentialHistogram) -> Double? {
        let (low, high) = (pooled - weight * difference, pooled + (1 - weight) * difference)
        guard low > 0, high < 1 else { return nil }
        let bounds = durations.quantiles([1 - high, 1 - low])
        guard let slower = bounds[1], let faster = bounds[0], faster > 0 else { return nil }
        return slower / faster
    }
}
