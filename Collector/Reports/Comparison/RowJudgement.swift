import MartletStorage

/// The verdict on a row, and the change whose time is searched.
struct RowJudgement: Sendable {
    private(set) var verdict: Verdict
    /// The change that is the largest; `nil` if none was found.
    private(set) var change: (signal: RequestSignal, direction: ChangeDirection)?
    private let windows: ComparedWindows

    /// - Parameters:
    ///   - bounds: the durations above which a request has each signal with a quantile, in seconds.
    ///   - before, after: the row in both windows of the report.
    ///   - isContiguous: whether the windows follow each other, so that the row's state shows in the minutes before.
    init(
        _ windows: ComparedWindows, bounds: [Double], before: RequestGroup?, after: RequestGroup, isContiguous: Bool
    ) {
        self.windows = windows
        let found = RowVerdict(windows)
        let isWorse = isContiguous ? windows.isWorse(found) : found.answer == .worse
        switch (isWorse, found.answer) {
        case (true, _), (false, .worse):
            let named = Self.worse(found, windows)
            verdict = .worse(Verdict.Changes(named + found.changed(.better), windows, before, after))
            change = (windows.mostChanged(named), .worse)
        case (false, .better):
            let named = found.changed(.better)
            verdict = .better(Verdict.Changes(named, windows, before, after))
            change = (windows.mostChanged(named), .better)
        case (false, .noChangeFound):
            verdict = .noChangeFound(wouldHaveSeen: Verdict.SmallestChange(windows, bounds, before))
        case (false, .tooLittleData(let shortage)):
            verdict = .tooLittleData(Verdict.Shortage(shortage, windows))
        }
    }

    /// Returns the signals that are worse. If the row only stays worse, these are the ones that still say so, or else all.
    private static func worse(_ found: RowVerdict, _ windows: ComparedWindows) -> [RequestSignal] {
        let changed = found.changed(.worse)
        guard changed.isEmpty else { return changed }
        let staying = found.results.filter { $0.worse <= VerdictConstants.stay }.map(\.signal)
        return [windows.mostChanged(staying.isEmpty ? RequestSignal.allCases : staying)]
    }

    /// Whether the row may have failed since some minute of its life.
    func mayFailSinceAMinute(_ row: RequestGroup) -> Bool {
        guard case .tooLittleData(.requests(_, in: .before)) = verdict else { return false }
        return row.failedCount > 0 && Double(row.count) >= 2 * VerdictConstants.minRequests
    }

    /// Returns when the change began and ended.
    ///
    /// - Parameters:
    ///   - history: the row in finer slots; `nil` to search in those of the verdict.
    ///   - slots: the slots.
    ///   - window: the window of the report.
    func changed(in history: RowHistory?, _ slots: ComparedSlots, of window: TimeWindow) -> ChangedTime? {
        guard let change else { return nil }
        var windows = windows
        if let history {
            (windows.history, windows.end, windows.length) = (history, history.count, slots.length)
        }
        return windows.onset(change.signal, change.direction).flatMap { ChangedTime($0, slots, of: window) }
    }

    /// Judges a row without a window before by its first minutes. Returns the time since which it is worse; `nil` if it is not.
    ///
    /// - Parameter history: the row's minutes.
    mutating func judge(
        firstMinutes history: RowHistory, _ slots: ComparedSlots, of report: TimeWindow
    ) -> ChangedTime? {
        let count = min(history.count, slots.length)
        let window = history.groups(.failures, to: history.count, slots: count, by: 1)
        let minutes = Array(window.drop { $0.all == 0 })
        let found = FirstMinutes(minutes)
        guard found.pValue <= VerdictConstants.rowLevel else { return nil }
        let parts = [minutes[..<found.since], minutes[found.since...]].map { Array($0).sum.share }
        var changes = Verdict.Changes()
        changes.failures = Verdict.Change(before: parts[0], after: parts[1])
        verdict = .worse(changes)
        return ChangedTime(since: found.since + slots.length - minutes.count, slots, of: report)
    }
}

extension Verdict.Changes {
    /// - Parameter signals: the signals that changed.
    fileprivate init(
        _ signals: [RequestSignal], _ windows: ComparedWindows, _ before: RequestGroup?, _ after: RequestGroup
    ) {
        func change(_ signal: RequestSignal) -> Verdict.Change? {
            guard signals.contains(signal), let quantiles = windows.quantiles[signal] else { return nil }
            return Verdict.Change(
                before: Milliseconds.of(quantiles.before), after: Milliseconds.of(quantiles.after))
        }
        (p50, p95, p99) = (change(.p50), change(.p95), change(.p99))
        guard signals.contains(.failures) else { return }
        let shares = [before, after].map { group in
            group.map { Double($0.failedCount) / Double(max($0.count, 1)) } ?? 0
        }
        failures = Verdict.Change(before: shares[0], after: shares[1])
    }
}

extension Verdict.SmallestChange {
    fileprivate init(_ windows: ComparedWindows, _ bounds: [Double], _ before: RequestGroup?) {
        let signals = RequestSignal.allCases.filter { $0.quantile != nil }
        let change = DetectableChange(
            windows, bounds: Dictionary(zip(signals, bounds)) { first, _ in first },
            quantile: { share in before?.quantiles([share])[0] })
        (failures, p95) = (change.failures, change.durations)
    }
}

extension Verdict.Shortage {
    fileprivate init(_ shortage: RowVerdict.Shortage, _ windows: ComparedWindows) {
        switch shortage {
        case .requestsBefore(let requests): self = .requests(UInt64(max(requests, 0)), in: .before)
        case .requestsAfter(let requests): self = .requests(UInt64(max(requests, 0)), in: .after)
        case .minutes:
            let minutes = windows.minutes(.failures).map(\.effectiveCount)
            let isBefore = minutes[0] <= minutes[1]
            self = .minutes(Int(isBefore ? minutes[0] : minutes[1]), in: isBefore ? .before : .after)
        }
    }
}

extension ComparedWindows {
    /// - Parameters:
    ///   - before, after: the row in both windows of the report.
    init(
        _ history: RowHistory, _ slots: ComparedSlots, noise: RowNoise?, before: RequestGroup?, after: RequestGroup
    ) {
        let signals = RequestSignal.allCases.filter { $0.quantile != nil }
        let shares = signals.compactMap(\.quantile)
        let quantiles = zip(before?.quantiles(shares) ?? [], after.quantiles(shares))
        var known: [RequestSignal: (before: Double, after: Double)] = [:]
        for (signal, (before, after)) in zip(signals, quantiles) {
            if let before, let after { known[signal] = (before, after) }
        }
        self.init(history, length: slots.length, noise: noise, isLater: slots.isLater, quantiles: known)
    }
}
