import MartletStorage
import MartletTelemetry

/// The tests of one row, and the figures that its verdict names. The figures are worked out when they are asked for: most rows
/// need none.
struct RowTests {
    let failures: ChangeTest
    let durations: PlacementTest
    /// `nil` if too few requests are above the quantile.
    let tail95: ChangeTest?
    let tail99: ChangeTest?
    private let (before, after): (WindowCounts, WindowCounts)

    private typealias Quantiles = Verdict.Change<Verdict.Quantile>

    /// The requests above p95, in both windows together, below which no test of the tail could find anything; and above p99.
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

    /// The results of the tests that had something to test.
    struct PValues {
        var failures: Double?
        var durations: [Double]

        /// Whether one of them counts.
        func count(at levels: Levels) -> Bool {
            failures.map { $0 <= levels.failures } ?? false || durations.contains { $0 <= levels.durations }
        }
    }

    var pValues: PValues {
        PValues(
            failures: failures.pValue,
            durations: [durations.pValue, tail95?.pValue, tail99?.pValue].compactMap { $0 })
    }

    /// The p-values up to which results count.
    struct Levels {
        var failures: Double
        var durations: Double
    }

    /// Returns the changes that count and that are worth a word.
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

    /// Returns a quantile in both windows; `nil` if the difference is not worth a word.
    private func change(of share: Double, isSlower: Bool) -> Quantiles? {
        let change = Quantiles(
            before: Verdict.Quantile(share, of: before), after: Verdict.Quantile(share, of: after))
        let (before, after) = (change.before.value, change.after.value)
        return ChangeGate.passes(quantile: before, after, isSlower: isSlower) ? change : nil
    }
}

extension ChangeTest {
    fileprivate func counts(_ level: Double) -> Bool { pValue.map { $0 <= level } ?? false }

    fileprivate func change(level: Double) -> Verdict.Change<Double>? {
        let (before, after) = (whole.before.mean, whole.after.mean)
        guard counts(level), ChangeGate.passes(failures: before, after) else { return nil }
        return Verdict.Change(before: before, after: after)
    }
}
