import MartletReports
import MartletStorage
import MartletTelemetry

/// Times of the day, in UTC, as charts and tables show them.
enum ClockText {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns `09:14`, and `09:14:10` for a time that is not a whole minute.
    static func time(_ time: UnixNanoseconds) -> String {
        let text = seconds(time)
        return text.hasSuffix(":00") ? String(text.dropLast(3)) : text
    }

    /// Returns `09:14:10`.
    static func seconds(_ time: UnixNanoseconds) -> String { String(TimeText.format(time).dropFirst(11).dropLast()) }

    /// Returns `21 Nov`.
    static func day(_ time: UnixNanoseconds) -> String {
        let text = TimeText.format(time)
        let (month, day) = (Int(text.dropFirst(5).prefix(2)) ?? 1, Int(text.dropFirst(8).prefix(2)) ?? 1)
        return "\(day) \(months[min(max(month, 1), 12) - 1])"
    }

    /// Returns the time of a moment. If the window is longer than a day, it is the day and whole minutes.
    static func moment(_ time: UnixNanoseconds, in window: TimeWindow) -> String {
        isLong(window) ? "\(day(time)), \(self.time(wholeMinutes(time)))" : self.time(time)
    }

    /// Returns a part of a window in whole minutes.
    static func minutes(_ part: TimeWindow, in window: TimeWindow) -> String {
        range(TimeWindow(from: wholeMinutes(part.from), to: wholeMinutes(part.to)), in: window)
    }

    /// Returns a part of a window: `09:14–09:16`, or `21 Nov, 09:00–10:00` if the window is longer than a day.
    static func range(_ part: TimeWindow, in window: TimeWindow) -> String {
        guard isLong(window), day(part.from) != day(part.to) else {
            return "\(moment(part.from, in: window))–\(time(part.to))"
        }
        return "\(moment(part.from, in: window))–\(moment(part.to, in: window))"
    }

    private static func wholeMinutes(_ time: UnixNanoseconds) -> UnixNanoseconds {
        time / 60_000_000_000 * 60_000_000_000
    }

    private static func isLong(_ window: TimeWindow) -> Bool { window.seconds > 86_400 }
}
