import Foundation

/// The smallest changes for the worse of a whole window that would have been found in more than 8 of 10 cases.
package struct DetectableChange: Sendable, Equatable {
    /// The difference between two shares of failed requests, 0...1; `nil` if no difference would have been found.
    package let failures: Double?
    /// The growth of all durations: 0.13 is 13 %; `nil` if no growth would have been found.
    package let durations: Double?

    /// - Parameters:
    ///   - bounds: the duration above which a request has each signal.
    ///   - quantile: returns a quantile of the durations in the window before.
    package init(
        _ windows: ComparedWindows, bounds: [RequestSignal: Double], quantile: (Double) -> Double?
    ) {
        let ofFailures = SignalTest(.failures, windows).smallestShares?.found
        failures = ofFailures.map { $0 - windows.before(.failures).share }
        durations = bounds.compactMap { signal, bound in
            SignalTest(signal, windows).smallestShares.flatMap { Self.growth(to: $0, bound, quantile) }
        }.min()
    }

    /// Returns the growth that brings as many requests above a bound as will be found, if the quantile also grows enough to be reported
    /// whatever chance does to it.
    private static func growth(
        to shares: SignalTest.SmallestShares, _ bound: Double, _ quantile: (Double) -> Double?
    ) -> Double? {
        guard let found = quantile(1 - shares.found), let byChance = quantile(1 - shares.byChance), found > 0,
            byChance > 0
        else { return nil }
        return max(bound / found, RequestSignal.smallestGrowth * max(bound / byChance, 1)) - 1
    }
}

extension SignalTest {
    /// Shares of requests after.
    struct SmallestShares {
        /// The smallest one that would have been found in more than 8 of 10 cases.
        var found: Double
        /// The one that chance exceeds in 1 of 10 cases if nothing has changed.
        var byChance: Double
    }

    /// The part of cases in which a change of this size is missed. The noise is an upper bound, so fewer are missed.
    private static let missed = 0.1

    /// `nil` if not even a share of 1 would have been found.
    var smallestShares: SmallestShares? {
        let studentT = StudentT(degreesOfFreedom: degreesOfFreedom)
        let level = VerdictConstants.rowLevel * signal.weight * VerdictConstants.worse * (1 - VerdictConstants.parts)
        let (critical, chance) = (studentT.critical(2 * level), studentT.critical(2 * Self.missed))
        guard let byChance = smallest({ scores($0).changed >= chance }) else { return nil }
        let found = smallest { share in
            let scores = scores(share)
            return scores.changed >= critical + chance && scores.beside >= VerdictConstants.besideErrors + chance
                && isWorthReporting(share, less: chance)
        }
        return found.map { SmallestShares(found: $0, byChance: byChance) }
    }

    private func scores(_ share: Double) -> (changed: Double, beside: Double) {
        let after = SignalCounts(share * after.all, of: after.all)
        let noise = noise(.worse)
        return (
            WindowDifference(after, from: compared).score(noise),
            WindowDifference(after, from: before).score(besideNoise(.worse))
        )
    }

    /// Returns whether a share is worth reporting even if chance makes it smaller. Growth of quantiles is looked at separately.
    private func isWorthReporting(_ share: Double, less errors: Double) -> Bool {
        guard signal == .failures else { return true }
        let counts = SignalCounts(share * after.all, of: after.all)
        let difference = WindowDifference(counts, from: compared)
        let error = difference.difference / max(difference.score(noise(.worse)), 1e-9)
        let angle = max(counts.angle - errors * error, 0)
        return signal.isWorthReporting(before.share, pow(sin(angle / 2), 2), .worse)
    }

    /// Returns the smallest share above the one before that is found, if all larger ones are found as well.
    private func smallest(_ isFound: (Double) -> Bool) -> Double? {
        guard isFound(1) else { return nil }
        var (low, high) = (before.share, 1.0)
        for _ in 0..<40 {
            let middle = (low + high) / 2
            if isFound(middle) { high = middle } else { low = middle }
        }
        return high
    }
}
