import Foundation

/// Looks for a change of the share of requests that fail: the last minutes against all before, for each lag.
struct FailureScan {
    /// Minutes of data.
    let minutes: Int
    /// The evidence that is needed.
    private let certain: Double

    /// - Parameter rows: how many rows are looked at. Each is a chance to be wrong.
    init(minutes: Int, rows: Int) {
        self.minutes = minutes
        certain = FindingConstants.certainFailures + log(Double(max(rows, 1)))
    }

    /// Returns the surest change to the worse that lasts until now.
    func rise(in history: MinuteHistory) -> FoundChange? {
        guard history.atLeast(0, of: MinuteHistory.whole) >= 4 else { return nil }
        return best(in: history, certain) { lag, part, reference in
            let isLong = minutes - lag >= FindingConstants.reference
            guard isLong || part.bad >= FindingConstants.badByItself * part.all else { return 0 }
            return evidence(part, reference, usual: reference.share.value)
        }
    }

    /// Returns the surest change of a row that failed from the beginning and is better since.
    func relief(in history: MinuteHistory) -> FoundChange? {
        guard history.atLeast(0, of: MinuteHistory.whole) >= 4 else { return nil }
        return best(in: history, certain + FindingConstants.furtherEvidenceIfOver) { lag, since, before in
            lag >= 3 ? evidence(before, since, usual: min(before.share.value, 0.02)) : 0
        }
    }

    /// Whether so many fail, all the time, that nothing needs to be compared.
    func isBadByItself(_ history: MinuteHistory) -> Bool {
        let all = Share(
            bad: history.atLeast(0, of: MinuteHistory.whole), all: history.requests(of: MinuteHistory.whole))
        return all.bad >= 10 && all.value >= FindingConstants.badByItself && EvidenceScore.gain(all, over: 0.1) >= 6
    }

    /// - Parameter evidence: the evidence of a lag, from the minutes since and those before.
    private func best(
        in history: MinuteHistory, _ certain: Double, evidence: (Int, FailureSums, FailureSums) -> Double
    ) -> FoundChange? {
        let all = FailureSums(history, of: MinuteHistory.whole)
        var best = FoundChange(evidence: 0, lag: 0, bucket: 0)
        for (index, lag) in FindingConstants.lags.enumerated() where lag <= minutes - 4 {
            let before = FailureSums(history, of: index)
            let value = evidence(lag, all - before, before)
            if value > best.evidence { best = FoundChange(evidence: value, lag: lag, bucket: 0) }
        }
        return best.evidence >= certain ? best : nil
    }

    /// - Parameter usual: the share that says how much the row varies.
    private func evidence(_ part: FailureSums, _ reference: FailureSums, usual: Double) -> Double {
        guard part.bad >= 4, reference.all >= 10, part.share.value >= 2 * reference.share.value + 0.005 else {
            return 0
        }
        let both = part.persistence + reference.persistence
        let deviation = FindingConstants.marginDeviations * (FindingConstants.failureSpread * both).squareRoot()
        let worse = Share(bad: min((reference.bad + 0.5) * exp(deviation), reference.all), all: reference.all)
        guard part.bad * reference.all > worse.bad * part.all,
            EvidenceScore.ofDifference(part.share, worse) >= FindingConstants.margin
        else { return 0 }
        let requests = part.all * reference.all / max(part.all + reference.all, 1)
        let dispersion = 1 + FindingConstants.failureSpread * usual * both * requests
        return EvidenceScore.ofDifference(part.share, reference.share) / dispersion
    }
}

/// Requests and failures of some minutes.
private struct FailureSums {
    var bad: Double
    var all: Double
    /// The sum of the squares of the minutes' requests.
    var squares: Double

    var share: Share { Share(bad: bad, all: all) }
    var persistence: Double { EvidenceScore.persistence(all * all / max(squares, 1)) }
}

extension FailureSums {
    fileprivate init(_ history: MinuteHistory, of sum: Int) {
        self.init(
            bad: history.atLeast(0, of: sum), all: history.requests(of: sum), squares: history.squares(of: sum))
    }

    fileprivate static func - (all: FailureSums, part: FailureSums) -> FailureSums {
        FailureSums(bad: all.bad - part.bad, all: all.all - part.all, squares: all.squares - part.squares)
    }
}
