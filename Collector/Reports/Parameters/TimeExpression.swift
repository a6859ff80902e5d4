import Foundation
import MartletStorage
import MartletTelemetry

/// A time as people say it: `yesterday`, `today`, `14:00`, in addition to the forms of ``TimeText``.
///
/// `yesterday` and `today` mean the midnight at their beginning. A time of day is the latest such time in the past.
package struct TimeExpression {
    /// The sentence in the help of commands.
    package static let help = """
        TIME is RFC 3339, a length of time ago (90s, 30m, 1h, 7d), a time of day (14:00), today or yesterday. Days and times \
        of day are in the time zone of TZ, or in UTC.
        """

    private static let day = 86_400
    private let now: Int
    private let offset: UTCOffset

    /// - Parameters:
    ///   - after: the beginning of a window, if the text is its end. A time of day that is not after the beginning is moved to
    ///     the next day.
    ///   - offset: the time zone for days and times of day.
    /// - Returns: `nil` if the text is not a time, or lies before 1970.
    package static func parse(
        _ text: String, now: UnixNanoseconds, after: UnixNanoseconds? = nil, in offset: UTCOffset = .utc
    ) -> UnixNanoseconds? {
        if let time = TimeText.parse(text, now: now) { return time }
        let expression = TimeExpression(now: Int(now / 1_000_000_000), offset: offset)
        let after = after.map { Int($0 / 1_000_000_000) }
        guard let seconds = expression.seconds(text, after: after), seconds >= 0 else { return nil }
        return UnixNanoseconds(seconds) * 1_000_000_000
    }

    /// Returns a text that means the same in every zone. A day or a time of day becomes RFC 3339; other texts are unchanged.
    package static func absolute(
        _ text: String, now: UnixNanoseconds, after: UnixNanoseconds? = nil, in offset: UTCOffset
    ) -> String {
        guard TimeText.parse(text, now: now) == nil, let time = parse(text, now: now, after: after, in: offset)
        else { return text }
        return TimeText.format(time)
    }

    private func seconds(_ text: String, after: Int?) -> Int? {
        switch text {
        case "today": return moment(today, 0)
        case "yesterday": return moment(today - 1, 0)
        default: return Self.timeOfDay(text).map { latest($0, after: after) }
        }
    }

    private func latest(_ time: Int, after: Int?) -> Int {
        let days = [today, today - 1, today - 2]
        let day = days.first { moment($0, time) <= now } ?? today
        let latest = moment(day, time)
        guard let after, latest <= after else { return latest }
        return moment(day + 1, time)
    }

    /// The current local day, as a number of days since 1970.
    private var today: Int {
        let local = now + offset.seconds(now)
        return (local >= 0 ? local : local - Self.day + 1) / Self.day
    }

    /// Returns a local time in seconds since 1970. The offset on that day may differ from today's. A time that the start of
    /// summer time skips is as long after the start as it would have been.
    private func moment(_ day: Int, _ time: Int) -> Int {
        let local = day * Self.day + time
        let guess = local - offset.seconds(local - offset.seconds(now))
        let found = local - offset.seconds(guess)
        return found + offset.seconds(found) < local ? local - offset.seconds(found) : found
    }

    /// Reads `14:00` or `14:00:30`, in seconds.
    private static func timeOfDay(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(isDigit) })
        else { return nil }
        let numbers = parts.compactMap { Int($0) } + [0]
        guard numbers[0] < 24, numbers[1] < 60, numbers[2] < 60 else { return nil }
        return (numbers[0] * 60 + numbers[1]) * 60 + numbers[2]
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// A time zone: its distance from UTC in seconds, for any time.
package struct UTCOffset: Sendable {
    /// Takes seconds since 1970.
    let seconds: @Sendable (Int) -> Int

    package init(_ seconds: @escaping @Sendable (Int) -> Int) {
        self.seconds = seconds
    }

    package static let utc = UTCOffset { _ in 0 }

    /// Returns the zone that `TZ` in the process's environment names; UTC if it is unset, empty or invalid. It uses the C
    /// library, because Foundation crashes the process on unusual values of `TZ`.
    ///
    /// - Parameter variables: the process's environment.
    package static func environment(_ variables: [String: String]) -> UTCOffset {
        guard let zone = variables["TZ"], !zone.isEmpty else { return .utc }
        tzset()
        return UTCOffset { seconds in
            var (time, parts) = (time_t(seconds), tm())
            return localtime_r(&time, &parts) == nil ? 0 : parts.tm_gmtoff
        }
    }
}

/// The length of the slots for figures over time.
package enum TrendStep {
    /// The shortest slot, in nanoseconds: an agent's interval.
    package static let shortest: UInt64 = 10_000_000_000
    /// The scale of the distributions in slots that are only drawn as a line. Their quantiles are within 2.2 %.
    package static let scale: Int32 = 4
    /// The lengths to choose from, in seconds. Each divides the hour or the day.
    private static let seconds: [UInt64] = [10, 30, 60, 180, 360, 720, 1800, 3600, 10_800, 21_600, 43_200, 86_400]

    /// Returns the shortest length that divides the window into at most `slots` whole slots, in nanoseconds. For the longest
    /// windows this is a multiple of a day.
    package static func fitting(_ window: TimeWindow, slots: UInt64 = 60) -> UInt64 {
        let wanted = (window.length + slots - 1) / slots
        let day: UInt64 = 86_400_000_000_000
        return seconds.lazy.map { $0 * 1_000_000_000 }.first { $0 >= wanted } ?? (wanted + day - 1) / day * day
    }
}
