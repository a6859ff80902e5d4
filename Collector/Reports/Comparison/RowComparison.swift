import MartletStorage
import MartletTelemetry

/// The tests of one row, and the figures that its verdict names. The figures are computed on demand, because most rows need none.
struct RowComparison {
    let failures: ChangeTest
    let durations: PlacementTest
    /// `nil` if too few requests are above the quantile.
    let tail95: ChangeTest?
    let tail99: ChangeTest?
    private let (before, after): (WindowCounts, WindowCounts)

    private typealias Quantiles = Verdict.Change<Verdict.Quantile>

    /// The numbers of requests above p95 and above p99, in both windows together, that the tests of the tail need. With fewer,
    /// they could not find anything.
    private static let (minAbove95, minAbove99) = (10.0, 100.0)

    /// - Parameter row: has requests in at least two blocks of each window.
    init(_ row: ComparedRow) {
        let buckets = SharedBuckets(of: row.before + row.after)
        (before, after) = (WindowCounts(row.before, in: buckets), WindowCounts(row.after, in: buckets))
        failures = ChangeTest(before: before.failureShare, after: after.failureShare, isLater: row.isLater)
        durations = PlacementTest(before: before, after: after)
        tail95 = TailTest.share(above: 0.95, atLeast: Self.minAbove95, before, after, isLater: row.isLater)
        tail99 = TailTest.share(above: 0.99, atLeast: Self.minAbove99, before, after, isLater: row.isLater)
    }

    /// The results of the tests that had enough data.
    struct PValues {
        var failures: Double?
        var durations: [Double]

        /// Whether one of the results counts.
        func count(at levels: Levels) -> Bool {
            failures.map { $0 <= levels.failures } ?? false || durations.contains { $0 <= levels.durations }
        }
    }

    var pValues: PValues {
        PValues(
            failures: failures.pValue,
            durations: [durations.pValue, tail95?.pValue, tail99?.pValue].compactMap { $0 })
    }

    /// The largest p-values that count.
    struct Levels {
        var failures: Double
        var durations: Double
    }

    /// Returns the changes that count and are large enough to report.
    func changes(_ levels: Levels) -> Verdict.Changes {
        let level = levels.durations
        return Verdict.Changes(
            failures: failures.change(level: levels.failures),
            p50: durations.pValue <= level ? change(of: 0.5, isSlower: durations.superiority > 0.5) : nil,
            p95: tail95.flatMap { $0.counts(level) ? change(of: 0.95, isSlower: $0.whole.isMoreAfter) : nil },
            p99: tail99.flatMap { $0.counts(level) ? change(of: 0.99, isSlower: $0.whole.isMoreAfter) : nil },
            cliffsDelta: durations.cliffsDelta)
    }

    /// Returns the smallest changes that would have been found.
    func smallestChange(_ levels: Levels) -> Verdict.SmallestChange {
        let all = ExponentialHistogram(mergedFrom: before.blocks + after.blocks)
        return Verdict.SmallestChange(failures: failures, tail: tail95, durations: all, levels: levels)
    }

    /// Returns a quantile in both windows; `nil` if the difference is too small to report.
    private func change(of share: Double, isSlower: Bool) -> Quantiles? {
        let change = Quantiles(
            before: Verdict.Quantile(share, of: before), after: Verdict.Quantile(share, of: after))
        let (before, after) = (change.before.value, change.after.value)
        return ChangeThresholds.passes(quantile: before, after, isSlower: isSlower) ? change : nil
    }
}

extension ChangeTest {
    fileprivate func counts(_ level: Double) -> Bool { pValue.map { $0 <= level } ?? false }

    fileprivate func change(level: Double) -> Verdict.Change<Double>? {
        let (before, after) = (whole.before.mean, whole.after.mean)
        guard counts(level), ChangeThresholds.passes(failures: before, after) else { return nil }
        return Verdict.Change(before: before, after: after)
    }
}

/// The smallest changes that are reported. With millions of requests even a difference of a hundredth is certain, but nobody
/// would act on it.
enum ChangeThresholds {
    /// The difference between two shares of failed requests, 0...1.
    private static let minDifference = 0.001
    /// The factor between two shares of failed requests, or between two shares of successful ones. The latter passes a change
    /// from 70 to 100 % failed.
    private static let minShareFactor = 1.5
    /// The factor between two quantiles.
    static let minQuantileFactor = 1.1

    static func passes(failures before: Double, _ after: Double) -> Bool {
        abs(after - before) >= minDifference && (isFar(before, after) || isFar(1 - before, 1 - after))
    }

    /// Returns whether two quantiles differ enough, in the direction that a test found.
    ///
    /// - Parameter isSlower: whether the test found that requests became slower.
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

extension Verdict.Quantile {
    private static let intervalLevel = 0.05

    /// Creates a quantile with Woodruff's interval: the quantiles at the ends of the interval for the share of requests up to it
    /// ("Confidence Intervals for Medians and Other Position Measures", Journal of the American Statistical Association 47, 1952).
    ///
    /// - Parameter share: 0...1.
    init(_ share: Double, of window: WindowCounts) {
        var (rest, bound) = (share * window.totals.reduce(0, +), 0)
        while bound < window.totals.count, rest > 0 {
            rest -= window.totals[bound]
            bound += 1
        }
        let above = window.share(above: bound)
        let variance = max(above.variance, share * (1 - share) / above.size)
        let studentT = StudentT(degreesOfFreedom: Double(above.sizes.count - 1))
        let reach = studentT.critical(Self.intervalLevel) * variance.squareRoot()
        let quantiles = window.durations.quantiles([share - reach, share, share + reach]).map {
            Milliseconds.of($0 ?? 0)
        }
        value = quantiles[1]
        interval = min(quantiles[0], value)...max(value, quantiles[2])
    }
}

extension Verdict.SmallestChange {
    /// The share of cases in which a change of this size is missed, if the standard error is exact. In fact the error is
    /// estimated from ten blocks, so the measured share is 0.09 to 0.17 (docs/comparison.md).
    private static let missed = 0.1

    /// Computes the smallest changes that are found. They are so far above the level of the tests, and above the thresholds,
    /// that chance rarely brings them below.
    ///
    /// - Parameters:
    ///   - failures: the test of the share of failed requests.
    ///   - tail: the test of p95; `nil` if it has too few requests.
    ///   - durations: the durations of both windows together.
    init(failures: ChangeTest, tail: ChangeTest?, durations: ExponentialHistogram, levels: RowComparison.Levels) {
        self.failures = Self.increase(seenBy: failures.whole, level: failures.levelOfWhole(levels.failures))
        p95 = tail.flatMap {
            Self.growth(seenBy: $0.whole, durations, level: $0.levelOfWhole(levels.durations))
        }
    }

    private static func increase(seenBy test: ShareTest, level: Double) -> Double? {
        let critical = test.studentT.critical(level)
        let chance = test.studentT.critical(2 * missed)
        let worthAWord = ChangeThresholds.smallestIncrease(ofFailures: test.pooled)
        return smallest(upTo: 1 - test.pooled) { increase in
            let error = test.standardError(increase: increase)
            return increase - chance * error >= max(critical * error, worthAWord)
        }
    }

    /// Increases all durations by the same factor until the share above the bound of p95 differs enough.
    private static func growth(seenBy test: ShareTest, _ durations: ExponentialHistogram, level: Double) -> Double? {
        let error = test.standardError(test.pooled, designEffect: test.designEffect)
        let chance = test.studentT.critical(2 * missed) * error
        guard let byChance = test.growth(for: chance, of: durations),
            let seen = test.growth(for: chance + test.studentT.critical(level) * error, of: durations)
        else { return nil }
        return max(seen, byChance * ChangeThresholds.minQuantileFactor) - 1
    }

    /// Returns the smallest value that is detected, if all larger ones are detected as well; `nil` if not even the largest is.
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
    /// If some blocks have more failures than others, a larger share also varies more. The logarithm of the odds is assumed to
    /// vary as much as it does now.
    fileprivate func standardError(increase: Double) -> Double {
        let spread = pooled * (1 - pooled)
        let grown = (pooled + increase) * (1 - pooled - increase)
        let factor = spread > 0 ? (1 + grown / spread) / 2 : 1
        return standardError(pooled + weight * increase, designEffect: 1 + (designEffect - 1) * factor)
    }

    /// Returns the factor by which all durations have to grow, so that the shares differ by `difference`. `nil` if the share
    /// before would have to be below 0.
    fileprivate func growth(for difference: Double, of durations: ExponentialHistogram) -> Double? {
        let (low, high) = (pooled - weight * difference, pooled + (1 - weight) * difference)
        guard low > 0, high < 1 else { return nil }
        let bounds = durations.quantiles([1 - high, 1 - low])
        guard let slower = bounds[1], let faster = bounds[0], faster > 0 else { return nil }
        return slower / faster
    }
}
