/// The other side of a comparison in words.
package enum ComparisonBaseText {
    /// Returns the words after "than" or "compared with": `in the hour before`, `a day earlier`, `in version 1.8`.
    package static func text(_ comparison: ReportComparison) -> String {
        switch try? ComparisonBase(comparison.base) {
        case .previous: "in the \(previous(comparison)) before"
        case .earlier: earlier(comparison.base)
        case .versions(let before, _): "in version \(TerminalText.plain(before))"
        case nil: "before"
        }
    }

    /// Returns the words after "compared with": `the hour before`, `a day earlier`, `version 1.8`.
    package static func noun(_ comparison: ReportComparison) -> String {
        let text = text(comparison)
        return text.hasPrefix("in ") ? String(text.dropFirst(3)) : text
    }

    /// Returns the words after a length of time: `before`, `a day earlier`.
    package static func adverb(_ base: ComparisonBase) -> String {
        switch base {
        case .earlier: earlier(base.text)
        case .previous, .versions: "before"
        }
    }

    private static func previous(_ comparison: ReportComparison) -> String {
        guard let from = TimeText.parse(comparison.from, now: 0), let to = TimeText.parse(comparison.to, now: 0),
            from < to
        else { return "time" }
        switch (to - from) / 1_000_000_000 {
        case 60: return "minute"
        case 3600: return "hour"
        case 86_400: return "day"
        case 604_800: return "week"
        case let seconds: return FigureText.age(seconds)
        }
    }

    private static func earlier(_ base: String) -> String {
        guard base != "day", base != "week" else { return "a \(base) earlier" }
        return TimeText.nanoseconds(base).map { FigureText.age($0 / 1_000_000_000) + " earlier" } ?? "earlier"
    }
}
