import Foundation
import MartletStorage
import MartletTelemetry

/// Ten seconds, as their number since 1970. Slot 0 is the ten seconds after midnight.
package typealias Slot = Int
/// A minute, as its number since 1970.
package typealias Minute = Int

/// Converts between slots, minutes and text.
package enum FindingTime {
    static let slotsOfMinute = 6
    /// The minutes that are taken: from 1970, after the first ones that are kept, to the year 9999.
    static let minutes = FindingConstants.keptMinutes..<4_222_000_000
    static let secondsOfSlot = 10.0
    static let nanosecondsOfSlot: UnixNanoseconds = 10_000_000_000

    static func slot(of minute: Minute) -> Slot { minute * slotsOfMinute }

    static func minute(of slot: Slot) -> Minute { slot / slotsOfMinute }

    /// Returns the first minute that does not begin before the slot.
    static func minute(after slot: Slot) -> Minute { (slot + slotsOfMinute - 1) / slotsOfMinute }

    /// Returns the slot that ends at a time or holds it. A batch that arrives at a slot's end is of that slot.
    static func slot(at seconds: Double) -> Slot {
        max(1, Int(exactly: (seconds / secondsOfSlot - 1e-6).rounded(.up)) ?? 1) - 1
    }

    /// Returns the beginning of a slot as RFC 3339 writes it, in UTC.
    static func text(_ slot: Slot) -> String {
        Date(timeIntervalSince1970: Double(slot) * secondsOfSlot).formatted(.iso8601)
    }

    /// Returns the slot that begins at a time of ``text(_:)``; `nil` if the text is no such time.
    static func slot(of text: String) -> Slot? {
        (try? Date(text, strategy: .iso8601)).map { Slot(($0.timeIntervalSince1970 / secondsOfSlot).rounded()) }
    }

    /// Returns the time from the beginning of the first slot to the end of the last one.
    static func window(_ slots: Range<Slot>) -> TimeWindow {
        TimeWindow(from: time(slots.lowerBound), to: time(slots.upperBound))
    }

    /// Returns the slots that a window reaches into.
    static func slots(_ window: TimeWindow) -> Range<Slot> {
        let first = Slot(clamping: window.from / nanosecondsOfSlot)
        let last = Slot(clamping: window.to / nanosecondsOfSlot + (window.to % nanosecondsOfSlot > 0 ? 1 : 0))
        return first..<max(first, last)
    }

    /// Returns the beginning of a slot; the end of time for later ones.
    package static func time(_ slot: Slot) -> UnixNanoseconds {
        let (time, isTooLate) = UnixNanoseconds(clamping: slot).multipliedReportingOverflow(by: nanosecondsOfSlot)
        return isTooLate ? .max : time
    }

    /// Returns the slot that a time lies in.
    static func slot(at time: UnixNanoseconds) -> Slot { Slot(clamping: time / nanosecondsOfSlot) }

    /// Returns the beginning of a slot as hours and minutes in UTC.
    static func clock(_ slot: Slot) -> String {
        let minute = minute(of: slot) % 1440
        return twoDigits(minute / 60) + ":" + twoDigits(minute % 60)
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
