import MartletReports
import MartletTelemetry

/// Figures as cells of tables show them, with the same texts as a terminal's.
enum Figure {
    /// Milliseconds in a column, with whole numbers moved to where the decimal point of the others is.
    static func milliseconds(_ value: Double) -> HTML {
        let text = FigureText.figure(value)
        return HTML.joined([HTML(text), text.utf8.contains(UInt8(ascii: ".")) ? .none : pad])
    }

    /// The room of a decimal point and one digit; the style sheet has the spaces.
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

    /// Returns a number beside an axis, without zeros at its end: `0.5`, `20`.
    static func tick(_ value: Double) -> String {
        if value >= 0, value < 1e15, value == value.rounded() { return FigureText.grouped(UInt64(value)) }
        guard value > 0, value < 100 else { return FigureText.figure(value) }
        var text = FigureText.fixed(value, 4)[...]
        while text.hasSuffix("0") { text = text.dropLast() }
        return text.hasSuffix(".") ? FigureText.figure(value) : String(text)
    }

    /// Returns a number of milliseconds beside an axis, and seconds from one second on: `50`, `2 s`.
    static func tickOfTime(_ milliseconds: Double) -> String {
        milliseconds < 1000 ? tick(milliseconds) : tick(milliseconds / 1000) + " s"
    }
}
