import Fixtures
import Foundation

@testable import MartletReports

/// The comparison of many pairs of hours whose truth is known.
struct Simulation {
    struct Scenario {
        let name: String
        let before: SimulatedTraffic
        let after: SimulatedTraffic
    }

    /// The trials in which a change was found, by figure.
    struct Findings {
        var failures = 0
        var p50 = 0
        var p95 = 0
        var p99 = 0
        var any = 0

        mutating func add(_ verdict: Verdict) {
            guard let changes = verdict.changes else { return }
            failures += changes.failures == nil ? 0 : 1
            p50 += changes.p50 == nil ? 0 : 1
            p95 += changes.p95 == nil ? 0 : 1
            p99 += changes.p99 == nil ? 0 : 1
            any += 1
        }
    }

    let trials: Int
    /// Findings in reports of one row each.
    private(set) var found = Findings()
    /// The trials in which a test finds something that takes all requests for independent.
    private(set) var naive = 0
    /// The changes that would have been seen, of the trials without a finding.
    private(set) var smallestChanges: [Verdict.SmallestChange] = []
    /// The trials in whose row something is found if the rows of all trials are one report.
    let foundInOneReport: Int

    init(_ scenario: Scenario, trials: Int, seed: UInt64) {
        self.trials = trials
        var random = SeededGenerator(seed: seed)
        let rows = (0..<trials).map { _ in
            ComparedRow(before: scenario.before.blocks(using: &random), after: scenario.after.blocks(using: &random))
        }
        let report = Comparison(of: rows)
        foundInOneReport = rows.indices.count { report[$0].changes != nil }
        for row in rows { add(row) }
    }

    private mutating func add(_ row: ComparedRow) {
        let verdict = Comparison(of: [row])[0]
        found.add(verdict)
        if case .noChangeFound(let smallest) = verdict { smallestChanges.append(smallest) }
        naive += RowComparison(row).isNaivelyDifferent ? 1 : 0
    }

    /// Returns a part of the trials, 0...1.
    func share(_ count: Int) -> Double { Double(count) / Double(trials) }

    /// Percentages of the trials: failures, p50, p95, p99, any of them, any in one report, naive.
    var line: String {
        [found.failures, found.p50, found.p95, found.p99, found.any, foundInOneReport, naive]
            .map { String(format: "%8.1f", 100 * share($0)) }.joined()
    }
}

extension RowComparison {
    /// Whether a test finds a difference at a level of 1 % if it takes all requests for independent.
    fileprivate var isNaivelyDifferent: Bool {
        let location = (durations.superiority - 0.5) / durations.independentVariance.squareRoot()
        let tests = [failures.whole, tail95?.whole].compactMap { $0 }.filter { $0.pValue != nil }
        let shares = tests.map { test -> Double in
            (test.after.mean - test.before.mean) / test.standardError(test.pooled, designEffect: 1)
        }
        let scores: [Double] = shares + [location]
        return scores.contains { erfc(abs($0) / 2.0.squareRoot()) < 0.01 }
    }
}
