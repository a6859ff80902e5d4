import MartletReports
import MartletStorage
import MartletTelemetry

/// Figures in table cells, with the same texts as in a terminal.
enum Figure {
    /// Milliseconds in a column. Whole numbers are aligned with the decimal point of the others.
    static func milliseconds(_ value: Double) -> HTML { milliseconds(FigureText.figure(value)) }

    static func milliseconds(_ text: String) -> HTML {
        HTML.joined([HTML(text), text.utf8.contains(UInt8(ascii: ".")) ? .none : pad])
    }

    /// The width of a decimal point and one digit. The style sheet sets it.
    private static var pad: HTML { element("span", .class("pad")) {} }

    /// The age of a time in its largest unit; empty without a time.
    static func age(of time: String?, at now: UnixNanoseconds) -> String {
        guard let time = time.flatMap({ TimeText.parse($0, now: 0) }) else { return "" }
        return FigureText.age((max(now, time) - time) / 1_000_000_000, isShort: true)
    }

    static func count(_ count: UInt64) -> HTML { HTML(FigureText.grouped(count)) }

    /// A number of requests that should be 0.
    static func fault(_ count: UInt64) -> HTML {
        guard count > 0 else { return element("span", .class("zero")) { "0" } }
        return element("span", .class("st bad")) {
            Icon.failed.html
            FigureText.grouped(count)
        }
    }

    /// Returns a number for an axis, without trailing zeros: `0.5`, `20`.
    static func tick(_ value: Double) -> String {
        if value >= 0, value < 1e15, value == value.rounded() { return FigureText.grouped(UInt64(value)) }
        guard value > 0, value < 100 else { return FigureText.figure(value) }
        var text = FigureText.fixed(value, 4)[...]
        while text.hasSuffix("0") { text = text.dropLast() }
        return text.hasSuffix(".") ? FigureText.figure(value) : String(text)
    }

    /// Returns a time for an axis in milliseconds, and in seconds from one second on: `50`, `2 s`.
    static func tickOfTime(_ milliseconds: Double) -> String {
        milliseconds < 1000 ? tick(milliseconds) : tick(milliseconds / 1000) + " s"
    }
}

extension Figure {
    /// Returns a duration with its unit: `12.2 ms`, `1.40 s`.
    static func duration(_ milliseconds: Double) -> String {
        milliseconds < 1000
            ? FigureText.figure(milliseconds) + " ms" : FigureText.figure(milliseconds / 1000) + " s"
    }
}

/// The difference between two figures, in readable form.
enum ChangeText {
    /// Returns `+2.1 %`, or `× 6.6` for a figure that at least doubled or halved. A change from 0 has no ratio.
    static func ratio(_ after: Double, _ before: Double) -> String {
        guard before > 0, after.isFinite, before.isFinite else { return after > 0 ? "from none" : "no change" }
        let ratio = after / before
        guard ratio > 0.5, ratio < 2 else { return "× \(FigureText.figure(ratio))" }
        return signed((ratio - 1) * 100, digits: 1) + " %"
    }

    static func ratio(_ after: UInt64, _ before: UInt64) -> String { ratio(Double(after), Double(before)) }

    /// Returns the difference of two shares in percentage points: `+5.08 pt`.
    static func points(_ after: Double, _ before: Double) -> String {
        signed((after - before) * 100, digits: 2) + " pt"
    }

    /// Returns `+89.9`, `−0.2`, `0.0`.
    static func signed(_ value: Double, digits: Int) -> String {
        guard value.isFinite else { return "–" }
        let text = FigureText.fixed(abs(value), digits)
        guard text.contains(where: { ("1"..."9").contains($0) }) else { return text }
        return (value < 0 ? "−" : "+") + text
    }
}

/// Times of day, in UTC, for charts and tables.
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

    /// Returns a time of day. If the window is longer than a day, adds the day and leaves out the seconds.
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
