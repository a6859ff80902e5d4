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
        var best = (pValue: 1.0, since: 0)
        for since in Self.minGood..<max(minutes.count, Self.minGood) {
            let parts = [Array(minutes[..<since]), Array(minutes[since...])]
            let pValue = Self.pValue(signal, parts) * Double(max(minutes.count - 3, 1))
            if pValue < best.pValue { best = (pValue, since) }
        }
        pValue = best.pValue / signal.weight
        since = best.since
    }

    /// Returns 1 if the later part is not worse, or if there are too few requests to find it.
    private static func pValue(_ signal: RequestSignal, _ parts: [[SignalCounts]]) -> Double {
        let (before, after) = (parts[0].sum, parts[1].sum)
        if SignalCounts.areApart(before, after) { return 0 }
        // A burst of failures in few minutes may be normal for the row.
        guard min(before.all, after.all) >= VerdictConstants.minRequests,
            parts.allSatisfy({ $0.effectiveCount >= VerdictConstants.minMinutes }),
            signal.isWorthReporting(before.share, after.share, .worse)
        else { return 1 }
        let score = WindowDifference(after, from: before).score(MinuteVariation(signal, parts).noise)
        return StudentT(degreesOfFreedom: VerdictConstants.freedomOfNewRow).upperTail(score) / VerdictConstants.worse
    }
}
