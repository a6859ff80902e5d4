import MartletReports
import MartletStorage

/// The window before, in words.
enum WindowName {
    /// Returns the same as the title of a column.
    static func title(_ window: TimeWindow) -> String {
        let name = before(window)
        return name.prefix(1).uppercased() + name.dropFirst()
    }

    /// Returns `hour before`, `15 min before`.
    static func before(_ window: TimeWindow) -> String {
        let seconds = UInt64(window.seconds.rounded())
        switch seconds {
        case 3600: return "hour before"
        case 86_400: return "day before"
        default: return FigureText.age(seconds) + " before"
        }
    }
}
