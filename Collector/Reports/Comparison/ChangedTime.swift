import MartletStorage
import MartletTelemetry

/// The part of a report's window in which a row's changed figure was off. Times are as fine as the slots of the report.
package struct ChangedTime: Sendable, Equatable, Codable {
    /// RFC 3339, UTC; the window's start if the figure was off by then.
    package var from: String
    /// RFC 3339, UTC; `nil`, and left out, if the figure was off until the window's end.
    package var until: String?
    /// Whether ``from`` is the window's start.
    package var isFromStart: Bool

    private enum CodingKeys: String, CodingKey {
        case from, until
        case isFromStart = "is_from_start"
    }

    package init(from: String, until: String?, isFromStart: Bool) {
        (self.from, self.until, self.isFromStart) = (from, until, isFromStart)
    }

    /// Creates nothing if the verdict names no change, or if there are too few requests to tell its time.
    ///
    /// - Parameter slots: the row's requests in each slot of the window.
    init?(_ verdict: Verdict, _ slots: [RequestGroup], in grid: SlotGrid) {
        guard let signal = ChangeSignal(verdict) else { return nil }
        let shares = slots.map(signal.share)
        let found = ShareShift.range(of: shares, isMore: signal.isMore)
        guard found != nil || ShareShift.wouldBeFound(in: shares, from: signal.before) else { return nil }
        let (first, last) = (found?.lowerBound ?? 0, found?.upperBound ?? shares.count - 1)
        // Slots without requests at either end say nothing.
        isFromStart = shares[..<first].allSatisfy { $0.all == 0 }
        from = TimeText.format(grid.window(ofSlot: isFromStart ? 0 : first).from)
        until = shares[(last + 1)...].allSatisfy { $0.all == 0 } ? nil : TimeText.format(grid.window(ofSlot: last).to)
    }

    /// Returns the part in words.
    ///
    /// - Parameter moment: returns a time in words.
    package func text(_ moment: (UnixNanoseconds) -> String) -> String {
        func word(_ time: String) -> String { TimeText.parse(time, now: 0).map(moment) ?? time }
        return switch (isFromStart, until) {
        case (true, nil): "all the time"
        case (true, let until?): "until \(word(until))"
        case (false, nil): "since \(word(from))"
        case (false, let until?): "from \(word(from)) to \(word(until))"
        }
    }
}
