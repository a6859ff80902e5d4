import MartletTelemetry

/// The ages up to which points are kept at each resolution, counted from the end of their interval: first as they came, then
/// a point for each minute, then one for each hour. Counts, sums and distributions merge without any error; only the times at
/// which a window may begin and end get coarser.
package struct Retention: Sendable, Equatable {
    /// Nanoseconds.
    package var fine: UnixNanoseconds = 6 * 3_600_000_000_000
    package var minutes: UnixNanoseconds = 7 * 24 * 3_600_000_000_000
    package var hours: UnixNanoseconds = 400 * 24 * 3_600_000_000_000

    /// Keeps fine points for six hours, minutes for a week, and hours for a year with room to compare it with the one before.
    package init() {}

    /// Whether no resolution expires before a finer one: coarser figures are made of finer ones.
    package var isOrdered: Bool { fine > 0 && fine <= minutes && minutes <= hours }

    /// Returns the age up to which points of a tier are kept, in nanoseconds.
    package func age(_ tier: Tier) -> Int64 {
        switch tier {
        case .fine: Int64(clamping: fine)
        case .minute: Int64(clamping: minutes)
        case .hour: Int64(clamping: hours)
        }
    }
}
