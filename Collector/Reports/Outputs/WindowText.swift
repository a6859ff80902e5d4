import MartletTelemetry

/// A window and the age of its data, in words.
enum WindowText {
    private static let second: UInt64 = 1_000_000_000
    private static let day = 86_400 * second

    /// Returns `09:00 to 10:00 UTC`, with the dates unless both are of today.
    static func sentence(of report: any WindowReport, now: UnixNanoseconds?) -> String {
        guard let now, let from = TimeText.parse(report.from, now: now), let to = TimeText.parse(report.to, now: now)
        else { return "\(report.from) to \(report.to)" }
        let isToday = from / day == now / day && to / day == now / day
        return "\(moment(from, isToday: isToday)) to \(moment(to, isToday: isToday)) UTC"
    }

    /// Returns a time of today as `13:42:10`, and any other with its date.
    static func moment(_ time: UnixNanoseconds, now: UnixNanoseconds) -> String {
        moment(time, isToday: time / day == now / day)
    }

    private static func moment(_ time: UnixNanoseconds, isToday: Bool) -> String {
        let text = TimeText.format(time)
        let clock = text.dropFirst(11).dropLast(1)
        let short = clock.hasSuffix(":00") ? clock.dropLast(3) : clock
        return isToday ? String(short) : "\(text.prefix(10)) \(short)"
    }

    /// Returns the age of the latest data. Data from the future tells of a clock that is ahead.
    static func freshness(latest: UnixNanoseconds, now: UnixNanoseconds?) -> String {
        guard let now else { return "latest \(TimeText.format(latest))" }
        guard latest > now + second else { return "latest \(FigureText.age((max(now, latest) - latest) / second)) ago" }
        return "latest \(FigureText.age((latest - now) / second)) ahead: a clock is off"
    }

    /// Whether the latest data is older than senders usually take, or from the future.
    static func isOff(latest: UnixNanoseconds, now: UnixNanoseconds) -> Bool {
        latest > now + second || now - min(now, latest) > 60 * second
    }
}
