import MartletStorage
import MartletTelemetry

/// The tests of one row, and the figures that its verdict names.
struct RowTests {
    let failures: ShareTest
    let durations: PlacementTest
    /// `nil` if too few requests are above the quantile.
    let tail95: ShareTest?
    let tail99: ShareTest?
    private let quantiles: (p50: Quantiles, p95: Quantiles, p99: Quantiles)
    private let all: ExponentialHistogram

    private typealias Quantiles = Verdict.Change<Verdict.Quantile>

    /// The requests above p95, in both windows together, below which no test of the tail could find anything; and above p99.
    private static let (minAbove95, minAbove99) = (10.0, 100.0)

    /// - Parameter row: has requests in at least two blocks of each window.
    init(_ row: ComparedRow) {
        all = ExponentialHistogram(mergedFrom: row.before + row.after)
        let buckets = SharedBuckets(all)
        let (before, after) = (WindowCounts(row.before, in: buckets), WindowCounts(row.after, in: buckets))
        failures = ShareTest(before: before.failureShare, after: after.failureShare)
        durations = PlacementTest(before: before, after: after)
        tail95 = TailTest.share(above: 0.95, atLeast: Self.minAbove95, before, after)
        tail99 = TailTest.share(above: 0.99, atLeast: Self.minAbove99, before, after)
        func quantiles(_ share: Double) -> Quantiles {
            Quantiles(before: Verdict.Quantile(share, of: before), after: Verdict.Quantile(share, of: after))
        }
        self.quantiles = (quantiles(0.5), quantiles(0.95), quantiles(0.99))
    }

    /// The results of the tests of durations that had something to test.
    var durationPValues: [Double] {
        [durations.pValue, tail95?.pValue, tail99?.pValue].compactMap { $0 }
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
            p50: durations.pValue <= level ? gated(quantiles.p50, isSlower: durations.superiority > 0.5) : nil,
            p95: tail95.flatMap { $0.counts(level) ? gated(quantiles.p95, isSlower: $0.isMoreAfter) : nil },
            p99: tail99.flatMap { $0.counts(level) ? gated(quantiles.p99, isSlower: $0.isMoreAfter) : nil },
            cliffsDelta: durations.cliffsDelta)
    }

    /// Returns the smallest changes that would have been found.
    func smallestChange(_ levels: Levels) -> Verdict.SmallestChange {
        Verdict.SmallestChange(failures: failures, tail: tail95, durations: all, levels: levels)
    }

    private func gated(_ change: Quantiles, isSlower: Bool) -> Quantiles? {
        let (before, after) = (change.before.value, change.after.value)
        return ChangeGate.passes(quantile: before, after, isSlower: isSlower) ? change : nil
    }
}

extension ShareTest {
    fileprivate var isMoreAfter: Bool { after.mean > before.mean }

    fileprivate func counts(_ level: Double) -> Bool { pValue.map { $0 <= level } ?? false }

    fileprivate func change(level: Double) -> Verdict.Change<Double>? {
        guard counts(level), ChangeGate.passes(failures: before.mean, after.mean) else { return nil }
        return Verdict.Change(before: before.mean, after: after.mean)
    }
}
