import MartletStorage
import MartletTelemetry

/// The part of a report's window during which a row's figure differed from before. Times are as precise as the slots in which they
/// were searched: minutes, in windows of up to six hours.
package struct ChangedTime: Sendable, Equatable, Codable {
    /// RFC 3339, UTC; the window's start if the figure already differed then.
    package var from: String
    /// The earliest and the latest likely beginning, RFC 3339, UTC; `nil`, and left out, if ``from`` is the only one.
    package var fromEarliest: String?
    package var fromLatest: String?
    /// RFC 3339, UTC; `nil`, and left out, if the figure differed until the window's end.
    package var until: String?
    /// Whether ``from`` is the window's start.
    package var isFromStart: Bool

    private enum CodingKeys: String, CodingKey {
        case from, until
        case fromEarliest = "from_earliest"
        case fromLatest = "from_latest"
        case isFromStart = "is_from_start"
    }

    package init(from: String, until: String?, isFromStart: Bool) {
        (self.from, self.until, self.isFromStart) = (from, until, isFromStart)
    }

    /// Returns `nil` if the time is not clear.
    init?(_ onset: ChangeOnset, _ slots: ComparedSlots, of window: TimeWindow) {
        guard onset.isClear else { return nil }
        self.init(since: onset.slots.lowerBound, slots, of: window)
        if onset.slots.upperBound < slots.length {
            until = Self.text(onset.slots.upperBound, slots, window)
        }
        if !isFromStart, onset.beginnings.count > 1 {
            fromEarliest = Self.text(onset.beginnings.lowerBound, slots, window)
            fromLatest = Self.text(onset.beginnings.upperBound, slots, window)
        }
    }

    /// Creates the time of a change that lasts until the window's end.
    ///
    /// - Parameter slot: the first slot of the change. It is negative if the change began before the window.
    init(since slot: Int, _ slots: ComparedSlots, of window: TimeWindow) {
        isFromStart = slot <= 0
        from = isFromStart ? TimeText.exact(window.from) : Self.text(slot, slots, window)
    }

    /// Returns the start of a slot in the window.
    private static func text(_ slot: Int, _ slots: ComparedSlots, _ window: TimeWindow) -> String {
        TimeText.exact(min(max(slots.after.from + UInt64(max(slot, 0)) * slots.step, window.from), window.to))
    }

    /// Returns the part in words.
    ///
    /// - Parameter moment: returns a time in words.
    package func text(_ moment: (UnixNanoseconds) -> String) -> String {
        func word(_ time: String) -> String { TimeText.parse(time, now: 0).map(moment) ?? time }
        if !isFromStart, let fromEarliest, let fromLatest {
            let beginning = "began between \(word(fromEarliest)) and \(word(fromLatest))"
            return beginning + (until.map { ", over since \(word($0))" } ?? "")
        }
        return switch (isFromStart, until) {
        case (true, nil): "all the time"
        case (true, let until?): "until \(word(until))"
        case (false, nil): "since \(word(from))"
        case (false, let until?): "from \(word(from)) to \(word(until))"
        }
    }
}
