/// The test of one signal of a row: of the whole window, and of its parts.
struct SignalTest {
    let signal: RequestSignal
    private let windows: ComparedWindows
    let (before, after): (SignalCounts, SignalCounts)
    /// The noise of the past; unknown for a new row.
    private let past: RowNoise.OfLength
    /// The variation of the minutes, for a new row.
    private let minutes: MinuteVariation

    init(_ signal: RequestSignal, _ windows: ComparedWindows) {
        (self.signal, self.windows) = (signal, windows)
        (before, after) = (windows.before(signal), windows.after(signal))
        past = windows.noise(signal, slots: windows.length)
        minutes = MinuteVariation(signal, windows.minutes(signal))
    }

    var result: RowVerdict.Result {
        RowVerdict.Result(signal: signal, worse: pValue(.worse), better: pValue(.better))
    }

    private func pValue(_ direction: ChangeDirection) -> Double {
        if isApart(direction) { return 0 }
        let whole = ofWhole(direction) / (1 - VerdictConstants.parts)
        return min(whole, ofParts(direction), 1) / signal.weight
    }

    // MARK: The whole window

    private func ofWhole(_ direction: ChangeDirection) -> Double {
        let beside = WindowDifference(after, from: before).score(besideNoise(direction))
        guard isWorthReporting(direction), direction.sign * beside > VerdictConstants.besideErrors else { return 1 }
        let changed = tail(WindowDifference(after, from: compared), noise(direction), direction)
        guard direction == .better else { return changed / direction.level }
        // The window is as it was before, but the one before it was worse than all around it.
        let was = tail(WindowDifference(before, from: compared - before + after), noise(.worse), .worse)
        return min(changed, was) / direction.level
    }

    /// What the window is compared with: the windows before it; for a new row only one.
    var compared: SignalCounts {
        guard past.isKnown else { return before }
        return windows.history.counts(signal, to: windows.start, slots: windows.reference(slots: windows.length))
    }

    func noise(_ direction: ChangeDirection) -> Double { past.isKnown ? past[direction] : minutes.noise }

    /// The noise of the difference to the single window before.
    func besideNoise(_ direction: ChangeDirection) -> Double {
        noise(direction) * (past.isKnown ? VerdictConstants.besideNoise : 1)
    }

    var degreesOfFreedom: Double { past.degreesOfFreedom }

    private func tail(_ difference: WindowDifference, _ noise: Double, _ direction: ChangeDirection) -> Double {
        StudentT(degreesOfFreedom: degreesOfFreedom).upperTail(direction.sign * difference.score(noise))
    }

    private func isWorthReporting(_ direction: ChangeDirection) -> Bool {
        guard signal != .failures else { return signal.isWorthReporting(before.share, after.share, direction) }
        guard let (before, after) = windows.quantiles[signal] else { return false }
        return signal.isWorthReporting(before, after, direction)
    }

    /// Whether the distributions of a new row hardly overlap, in the window or in a part of it that is worse.
    private func isApart(_ direction: ChangeDirection) -> Bool {
        guard !past.isKnown else { return false }
        guard direction == .worse else { return SignalCounts.areApart(after, before) }
        return SignalCounts.areApart(before, after) || parts.contains { SignalCounts.areApart(before, $0) }
    }

    // MARK: Parts

    private var lengthsOfParts: [Int] {
        WindowParts.lengths(of: windows.length, block: WindowParts.block(windows.history.slotMinutes))
    }

    private var parts: [SignalCounts] {
        guard windows.isLater else { return [] }
        return lengthsOfParts.flatMap { slots in
            ends(ofParts: slots).map { windows.history.counts(signal, to: $0, slots: slots) }
        }
    }

    /// Returns the result for the part of the window that differs most from what was before it, and from the window before.
    private func ofParts(_ direction: ChangeDirection) -> Double {
        let lengths = lengthsOfParts
        guard windows.isLater, !lengths.isEmpty, before.all >= VerdictConstants.minRequests else { return 1 }
        guard signal == .failures || isWorthReporting(direction) else { return 1 }
        let count = lengths.reduce(0) { $0 + ends(ofParts: $1).count }
        let least = lengths.map { mostChanged(slots: $0, direction) }.min() ?? 1
        return least * Double(count) / VerdictConstants.parts / direction.level
    }

    private func ends(ofParts slots: Int) -> [Int] {
        Array(stride(from: windows.end, through: windows.start + slots, by: -max(slots / 5, 1)))
    }

    private func mostChanged(slots: Int, _ direction: ChangeDirection) -> Double {
        let found = windows.noise(signal, slots: slots)
        let isKnown = past.isKnown && found.isKnown
        let noise = isKnown ? found[direction] : minutes.noise(ofPart: Double(slots) / Double(windows.length))
        let reference = isKnown ? windows.reference(slots: slots) : windows.length
        let scores = ends(ofParts: slots).map { score(of: slots, to: $0, from: reference, noise, direction) }
        let freedom = isKnown ? found.degreesOfFreedom : VerdictConstants.freedomOfNewRow
        return StudentT(degreesOfFreedom: freedom).upperTail(scores.max() ?? 0)
    }

    private func score(
        of slots: Int, to end: Int, from reference: Int, _ noise: Double, _ direction: ChangeDirection
    ) -> Double {
        let part = windows.history.counts(signal, to: end, slots: slots)
        let earlier = windows.history.counts(signal, to: end - slots, slots: reference)
        guard min(part.all, earlier.all) >= VerdictConstants.minRequests else { return 0 }
        if signal == .failures, !signal.isWorthReporting(before.share, part.share, direction) { return 0 }
        return [earlier, before].map { direction.sign * WindowDifference(part, from: $0).score(noise) }.min() ?? 0
    }
}

extension SignalCounts {
    /// Whether hardly any request has the property in one window, and nearly all have it in the other.
    static func areApart(_ low: SignalCounts, _ high: SignalCounts) -> Bool {
        min(low.all, high.all) >= 2 * VerdictConstants.minRequests && low.share <= VerdictConstants.apartBelow
            && high.share >= VerdictConstants.apartAbove
    }
}

extension MinuteVariation {
    /// Returns the noise of the difference between a part of the window and as long a window as the whole.
    fileprivate func noise(ofPart share: Double) -> Double {
        guard let ofWindow = windowCounts.last else { return variance }
        return variance * (MeanVariance.ofMinutes(max(ofWindow * share, 1)) + MeanVariance.ofMinutes(ofWindow))
    }
}
