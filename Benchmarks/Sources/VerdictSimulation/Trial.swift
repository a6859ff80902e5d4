#if canImport(MartletReports)
import MartletReports
#endif

/// A row and its windows, with two days of past.
struct Trial {
    static let past = VerdictConstants.pastMinutes
    /// The length of the slots of the past, and of windows from an hour on.
    static let summaryMinutes = 3

    let row: SimulatedRow
    /// The length of the window, in minutes.
    let length: Int
    /// Further minutes after the window.
    let after: Int

    /// The settings of a trial.
    struct Setting {
        var world: World
        var length: Int
        /// Requests per minute, and the share of failed requests; `nil` for any.
        var rate: Double?
        var share: Double?
        /// The change, in minutes of the window.
        var change = SimulatedRow.Change()
        var after = 0
    }

    init(_ setting: Setting, using random: inout RandomNumbers) {
        (length, after) = (setting.length, setting.after)
        let reference = max(4, 80 / length)
        let minutes = Self.past + (2 + reference) * length + after
        let traffic = setting.world.traffic(minutes, rate: setting.rate, share: setting.share, using: &random)
        let start = minutes - after - length
        var change = setting.change
        change.minutes = change.minutes.lowerBound + start..<change.minutes.upperBound + start
        row = SimulatedRow(setting.world, traffic, change, using: &random)
    }

    init(_ row: SimulatedRow, length: Int) { (self.row, self.length, after) = (row, length, 0) }

    var end: Int { row.minutes - after }
    var start: Int { end - length }

    /// Returns the windows as those of a row with a past.
    ///
    /// - Parameters:
    ///   - hours: the hours that the row has lived before the two windows; `nil` for all.
    ///   - noise: the noise, if it is known from an earlier window of the same hour.
    ///   - isByMinute: whether long windows are in slots of a minute, too, as those of changed rows.
    func withPast(
        hours: Int? = nil, minutesLater: Int = 0, noise known: RowNoise? = nil, isByMinute: Bool = false
    ) -> ComparedWindows {
        // A store is asked for two days up to a full hour.
        let first = max(hours.map { end - 2 * length - $0 * 60 } ?? start / 60 * 60 - Self.past, 0)
        let window = start + minutesLater..<end + minutesLater
        let slotMinutes = length < 60 || isByMinute ? 1 : Self.summaryMinutes
        let history = row.history(first..<row.minutes, reference: first..<start, slotMinutes: slotMinutes)
        let noise = known ?? noise(first, before: window.lowerBound, slotMinutes)
        return ComparedWindows(
            history, end: window.upperBound / slotMinutes - history.first, length: length / slotMinutes, noise: noise,
            quantiles: row.quantiles(window.lowerBound - length..<window.lowerBound, window))
    }

    private func noise(_ first: Int, before window: Int, _ slotMinutes: Int) -> RowNoise {
        let past = row.history(first..<row.minutes, reference: first..<start, slotMinutes: Self.summaryMinutes)
        return RowNoise(past, before: window, windowMinutes: length, slotMinutes: slotMinutes)
    }

    /// Returns the windows as those of a row without a past.
    var asNew: ComparedWindows {
        let before = start - length..<start
        let slotMinutes = length > 360 ? length / VerdictConstants.slotsOfLong : 1
        let history = row.history(before.lowerBound..<end, reference: before, slotMinutes: slotMinutes)
        return ComparedWindows(
            history, length: length / slotMinutes, noise: nil, quantiles: row.quantiles(before, start..<end))
    }
}
