import MartletStorage
import MartletTelemetry

/// The length of the slots in which a window is shown over time.
package enum TrendStep {
    /// The shortest slot, in nanoseconds: an agent's interval.
    package static let shortest: UInt64 = 10_000_000_000
    /// The scale of distributions in slots of which only a line is drawn: quantiles are within 2.2 %.
    package static let scale: Int32 = 4
    /// The lengths to choose from, in seconds. Each divides the hour or the day, and those above a minute are whole slots of
    /// summaries, so that stored slots fit.
    private static let seconds: [UInt64] = [10, 30, 60, 180, 360, 720, 1800, 3600, 10_800, 21_600, 43_200, 86_400]

    /// Returns the shortest length that cuts the window into at most `slots` whole slots, in nanoseconds; a multiple of a day
    /// if no shorter one does.
    package static func fitting(_ window: TimeWindow, slots: UInt64 = 60) -> UInt64 {
        let wanted = (window.length + slots - 1) / slots
        let day: UInt64 = 86_400_000_000_000
        return seconds.lazy.map { $0 * 1_000_000_000 }.first { $0 >= wanted } ?? (wanted + day - 1) / day * day
    }
}
