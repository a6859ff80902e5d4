/// A change in the first minutes of a row, which have no window before them: the minutes are split into a better part and a worse one.
package struct FirstMinutes: Sendable, Equatable {
    /// The probability that minutes differ as much if nothing has changed, multiplied by the number of splits looked at.
    /// ``VerdictConstants/rowLevel`` is the limit.
    package let pValue: Double
    /// The first minute of the worse part.
    package let since: Int

    /// The fewest good minutes.
    private static let minGood = 2

    /// - Parameter minutes: the requests of each minute, from the first one with requests on. Nothing else is known.
    package init(_ minutes: [SignalCounts], _ signal: RequestSignal = .failures) {
        let splits = (Self.minGood..<max(minutes.count, Self.minGood)).map { since in
            Split(signal, [Array(minutes[..<since]), Array(minutes[since...])], since)
        }
        // If several splits are equal, the last one is nearest to the change.
        let best = splits.min { one, other in
            (one.pValue, -one.distance, -one.since) < (other.pValue, -other.distance, -other.since)
        }
        pValue = (best?.pValue ?? 1) * Double(max(minutes.count - 3, 1)) / signal.weight
        since = best?.since ?? 0
    }

    /// Minutes before and after a possible change.
    private struct Split {
        let since: Int
        /// 1 if the later part is not worse, or if there are too few requests to find it.
        let pValue: Double
        /// The difference of the shares.
        let distance: Double

        init(_ signal: RequestSignal, _ parts: [[SignalCounts]], _ since: Int) {
            let (before, after) = (parts[0].sum, parts[1].sum)
            // A change rarely begins with a minute, so the first one may have some of both.
            let whole = Array(parts[1].dropFirst()).sum
            let isApart = [after, whole].contains { SignalCounts.areApart(before, $0) }
            self.since = since
            pValue = isApart ? 0 : Self.pValue(signal, parts, before, after)
            distance = max(after.share, whole.share) - before.share
        }

        private static func pValue(
            _ signal: RequestSignal, _ parts: [[SignalCounts]], _ before: SignalCounts, _ after: SignalCounts
        ) -> Double {
            // A burst of failures in few minutes may be normal for the row.
            guard min(before.all, after.all) >= VerdictConstants.minRequests,
                parts.allSatisfy({ $0.effectiveCount >= VerdictConstants.minMinutes }),
                signal.isWorthReporting(before.share, after.share, .worse)
            else { return 1 }
            let score = WindowDifference(after, from: before).score(MinuteVariation(signal, parts).noise)
            return StudentT(degreesOfFreedom: VerdictConstants.freedomOfNewRow).upperTail(score)
                / VerdictConstants.worse
        }
    }
}
