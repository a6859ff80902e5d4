/// Whether a row is worse or better in a window than in those before it.
package struct RowVerdict: Sendable, Equatable {
    package enum Answer: Sendable, Equatable {
        case worse
        case better
        case noChangeFound
        case tooLittleData(Shortage)
    }

    /// The data that a row lacks for a verdict.
    package enum Shortage: Sendable, Equatable {
        /// The window before, or the compared window, has fewer than ``VerdictConstants/minRequests`` requests.
        case requestsBefore(Int)
        case requestsAfter(Int)
        /// The row is new, and its requests are in few minutes.
        case minutes
    }

    /// The result for a signal: the probability of a difference at least this large if nothing has changed, multiplied by the number
    /// of things looked at. So ``VerdictConstants/rowLevel`` is the limit for each.
    package struct Result: Sendable, Equatable {
        package var signal: RequestSignal
        package var worse = 1.0
        package var better = 1.0

        package subscript(direction: ChangeDirection) -> Double { direction == .worse ? worse : better }
    }

    package let answer: Answer
    /// One for each signal. It is 1 for a change that is not worth reporting.
    package let results: [Result]

    /// The smallest result in a direction.
    package func pValue(_ direction: ChangeDirection) -> Double { results.map { $0[direction] }.min() ?? 1 }

    /// The signals that changed in a direction.
    package func changed(_ direction: ChangeDirection) -> [RequestSignal] {
        results.filter { $0[direction] <= VerdictConstants.rowLevel }.map(\.signal)
    }

    package init(_ windows: ComparedWindows) {
        let results = RequestSignal.allCases.map { SignalTest($0, windows).result }
        let worse = results.map(\.worse).min() ?? 1
        let better = results.map(\.better).min() ?? 1
        self.results = results
        let areApart = results.contains { min($0.worse, $0.better) == 0 }
        if let shortage = windows.shortage(areApart: areApart) {
            answer = .tooLittleData(shortage)
        } else if worse <= VerdictConstants.rowLevel {
            answer = .worse
        } else {
            answer = better <= VerdictConstants.rowLevel ? .better : .noChangeFound
        }
    }
}

/// A window of a row, and what it is compared with.
package struct ComparedWindows: Sendable {
    /// The slots of the window, of the one before it, and of as many before that as there are.
    package var history: RowHistory
    /// The end of the window, in slots from the first one of the history.
    package var end: Int
    /// The length of the window, in slots.
    package var length: Int
    /// `nil` if the past does not count: if the windows do not follow each other, or are too long.
    package var noise: RowNoise?
    /// Whether the window follows the one before it. It does not if two versions are compared in the same window.
    package var isLater = true
    /// The quantiles of durations in the window before and in the window; none for failures.
    package var quantiles: [RequestSignal: (before: Double, after: Double)]

    package init(
        _ history: RowHistory, end: Int? = nil, length: Int, noise: RowNoise?, isLater: Bool = true,
        quantiles: [RequestSignal: (before: Double, after: Double)]
    ) {
        (self.history, self.end, self.length) = (history, end ?? history.count, length)
        (self.noise, self.isLater, self.quantiles) = (noise, isLater, quantiles)
    }

    /// The start of the window.
    var start: Int { end - length }

    func after(_ signal: RequestSignal) -> SignalCounts { history.counts(signal, to: end, slots: length) }

    func before(_ signal: RequestSignal) -> SignalCounts { history.counts(signal, to: start, slots: length) }

    /// Returns the minutes of the window before and of the window. Long windows are in sixty parts.
    func minutes(_ signal: RequestSignal) -> [[SignalCounts]] {
        [start, end].map { history.groups(signal, to: $0, slots: length, by: max(length / 60, 1)) }
    }

    /// Returns the noise of windows of some slots; unknown without a past.
    func noise(_ signal: RequestSignal, slots: Int) -> RowNoise.OfLength {
        noise?[signal, slots * history.slotMinutes] ?? .unknown
    }

    /// Returns the slots of the windows before one of `slots`.
    func reference(slots: Int) -> Int { slots * WindowParts.referenceWindows(minutes: slots * history.slotMinutes) }

    /// - Parameter areApart: whether the two distributions hardly overlap.
    fileprivate func shortage(areApart: Bool) -> RowVerdict.Shortage? {
        let (before, after) = (before(.failures).all, after(.failures).all)
        if min(before, after) < VerdictConstants.minRequests {
            return before < after ? .requestsBefore(Int(before)) : .requestsAfter(Int(after))
        }
        let isKnown = noise(.failures, slots: length).isKnown
        let minutes = minutes(.failures).map(\.effectiveCount).min() ?? 0
        return isKnown || areApart || minutes >= VerdictConstants.minMinutes ? nil : .minutes
    }
}
