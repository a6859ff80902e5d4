import Foundation

/// Looks for a change of durations: for each lag, whether more of the last minutes' requests are slower than a quantile of
/// those before. It needs no shape of the distribution, and sees a tail that grows as well as all that grow.
struct DurationScan {
    /// Minutes of data.
    let minutes: Int
    private let certain: Double

    /// - Parameter rows: how many rows are looked at. Each is a chance to be wrong.
    init(minutes: Int, rows: Int) {
        self.minutes = minutes
        certain = FindingConstants.certainDurations + log(Double(max(rows, 1)))
    }

    /// Returns the surest change to the worse that lasts until now. Long lags change little in a minute, so they are looked at
    /// each third one.
    func rise(in history: MinuteHistory) -> FoundChange? {
        best(in: history, certain, isOver: false) { lag in
            lag >= 2 && (lag < 15 || minutes % 3 == 0) && minutes - lag >= FindingConstants.reference
        }
    }

    /// Returns the surest change of a row that was slow from the beginning and is better since.
    func relief(in history: MinuteHistory) -> FoundChange? {
        guard minutes % 2 == 0 else { return nil }
        return best(in: history, certain + FindingConstants.furtherEvidenceIfOver, isOver: true) { $0 >= 3 }
    }

    private func best(
        in history: MinuteHistory, _ certain: Double, isOver: Bool, isWanted: (Int) -> Bool
    ) -> FoundChange? {
        guard history.requests(of: MinuteHistory.whole) >= 25 else { return nil }
        var best = FoundChange(evidence: 0, lag: 0, bucket: 0)
        for (index, lag) in FindingConstants.lags.enumerated() where lag <= minutes - 4 && isWanted(lag) {
            let comparison = DurationComparison(history, lag: index, isOver: isOver)
            guard comparison.reference.all >= 20, comparison.part.all >= 5 else { continue }
            comparison.forEachQuantile { bucket in
                let value = comparison.evidence(bucket, ifAtLeast: max(best.evidence, certain))
                if value > best.evidence { best = FoundChange(evidence: value, lag: lag, bucket: bucket) }
            }
        }
        return best.evidence >= certain ? best : nil
    }
}

/// The durations of two parts of a row's history, the minutes since a lag and those before. One of them is the reference.
private struct DurationComparison {
    /// Requests, and the sum of the squares of the minutes' requests.
    struct Part {
        var all: Double
        var squares: Double

        var persistence: Double { EvidenceScore.persistence(all * all / max(squares, 1)) }
    }

    let part: Part
    let reference: Part
    private let before: Part
    private let history: MinuteHistory
    private let lag: Int
    /// Whether the time before was the bad one.
    private let isOver: Bool
    /// The variance of means over both parts, as a part of a minute's.
    private let persistence: Double

    init(_ history: MinuteHistory, lag: Int, isOver: Bool) {
        (self.history, self.lag, self.isOver) = (history, lag, isOver)
        before = Part(all: history.requests(of: lag), squares: history.squares(of: lag))
        let since = Part(
            all: history.requests(of: MinuteHistory.whole) - before.all,
            squares: history.squares(of: MinuteHistory.whole) - before.squares)
        (part, reference) = isOver ? (before, since) : (since, before)
        persistence = part.persistence + reference.persistence
    }

    /// Returns the number of requests of the reference that are in this bucket or a higher one.
    private func inReference(_ bucket: Int) -> Double { isOver ? since(bucket) : history.atLeast(bucket, of: lag) }

    private func inPart(_ bucket: Int) -> Double { isOver ? history.atLeast(bucket, of: lag) : since(bucket) }

    private func since(_ bucket: Int) -> Double {
        history.atLeast(bucket, of: MinuteHistory.whole) - history.atLeast(bucket, of: lag)
    }

    /// Calls the body with the bucket of each quantile of the reference. Quantiles with the same bucket are one.
    func forEachQuantile(_ body: (Int) -> Void) {
        var bucket = max(history.span.lowerBound, 1)
        var last: Int?
        for share in FindingConstants.slowerShares {
            while bucket < CoarseBuckets.count - 1, inReference(bucket) > share * reference.all { bucket += 1 }
            if bucket != last { body(bucket) }
            last = bucket
        }
    }

    /// Returns how strongly more slow requests in the part speak for a change; 0 if that is less than `least`.
    func evidence(_ bucket: Int, ifAtLeast least: Double) -> Double {
        let slow = Share(bad: inPart(bucket), all: part.all)
        let usual = Share(bad: inReference(bucket), all: reference.all)
        guard slow.bad >= 5, slow.value > 1.3 * usual.value else { return 0 }
        let worse = Share(bad: slowerIfPaceWasOff(bucket), all: reference.all)
        guard slow.value * reference.all > worse.bad,
            EvidenceScore.ofDifference(slow, worse) >= FindingConstants.margin
        else { return 0 }
        let paceSpread = paceSpread(bucket, usual)
        guard evidence(slow, usual, spread: paceSpread) >= least else { return 0 }
        return evidence(slow, usual, spread: max(paceSpread, seenSpread(bucket, isOver ? slow.value : usual.value)))
    }

    private func evidence(_ slow: Share, _ usual: Share, spread: Double) -> Double {
        EvidenceScore.ofDifference(slow, usual)
            / EvidenceScore.dispersion(spread: spread, persistence: persistence, slow, usual)
    }

    /// The requests of the reference that would have been slow if its pace had been off by some standard deviations, between
    /// buckets by interpolation.
    private func slowerIfPaceWasOff(_ bucket: Int) -> Double {
        let far = FindingConstants.marginDeviations * persistence.squareRoot() * FindingConstants.paceSpreadOfMargin
        let whole = Int(far)
        let (near, next) = (inReference(max(bucket - whole, 0)), inReference(max(bucket - whole - 1, 0)))
        return near + (far - Double(whole)) * (next - near)
    }

    /// The variance of a minute's share that a small change of pace makes.
    private func paceSpread(_ bucket: Int, _ usual: Share) -> Double {
        let inNextBucket = inReference(bucket - 1) / max(reference.all, 1) - usual.value
        let deviation = FindingConstants.paceSpread * inNextBucket
        return deviation * deviation
    }

    /// The variance of a minute's share beyond chance, as the minutes before show it. It takes a look at all of them, and only
    /// a change that is nearly certain needs it.
    private func seenSpread(_ bucket: Int, _ share: Double) -> Double {
        let squares = history.minutes.dropLast(FindingConstants.lags[lag]).reduce(0.0) { sum, minute in
            guard history.isUsable(minute) else { return sum }
            let off = history.atLeast(bucket, in: minute) - share * history.requests(in: minute)
            return sum + off * off
        }
        return (squares - share * (1 - share) * before.all) / max(before.squares, 1)
    }
}
