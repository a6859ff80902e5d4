import MartletReports
import MartletStorage

/// The window that another one is compared with, in words.
struct WindowName: Sendable {
    /// `hour before`, `15 min before`, `hour a day earlier`.
    let text: String

    init(before window: TimeWindow, _ base: ComparisonBase) {
        let seconds = UInt64(window.seconds.rounded())
        let length =
            switch seconds {
            case 3600: "hour"
            case 86_400: "day"
            default: FigureText.age(seconds)
            }
        text = "\(length) \(ComparisonBaseText.adverb(base))"
    }

    /// The same as the title of a column.
    var title: String { text.prefix(1).uppercased() + text.dropFirst() }
}
