/// The usual variation of a row: the differences that windows of its past had to the windows before them.
///
/// It changes slowly, so it is computed once an hour, for windows of the lengths that are compared.
package struct RowNoise: Sendable, Equatable {
    /// The noise of windows of one length.
    package struct OfLength: Sendable, Equatable {
        /// The noise upwards and downwards (``WindowDifference/score(_:)``).
        package var worse: Double
        package var better: Double
        /// The number of windows of the past that it comes from, as many as do not overlap.
        package var windows: Double

        static let unknown = OfLength(worse: 0, better: 0, windows: 0)

        package var isKnown: Bool { windows >= VerdictConstants.minPastWindows }

        subscript(direction: ChangeDirection) -> Double { direction == .worse ? worse : better }

        /// The degrees of freedom of a score with this noise.
        var degreesOfFreedom: Double {
            guard isKnown else { return VerdictConstants.freedomOfNewRow }
            return max(VerdictConstants.freedomPerWindow * windows, VerdictConstants.minFreedom)
        }
    }

    /// The number of minutes from 1970 to the full hour before the compared window. The past ends here.
    package let end: Int
    /// The noise of each signal, by the length of windows in minutes.
    private let lengths: [Int: [OfLength]]

    /// - Parameters:
    ///   - past: the requests up to the compared window or later.
    ///   - start: the number of minutes from 1970 to the start of the compared window.
    ///   - length: the length of the compared window, in minutes.
    ///   - slotMinutes: the length of its slots.
    package init(_ past: RowHistory, before start: Int, windowMinutes length: Int, slotMinutes: Int = 1) {
        end = start / 60 * 60
        let parts = WindowParts.lengths(of: length / slotMinutes, block: WindowParts.block(slotMinutes))
        let minutes =
            length > VerdictConstants.longestByPast
            ? [] : parts.map { $0 * slotMinutes } + [length, VerdictConstants.blockMinutes]
        let noise = NoiseOfPast(past, end: end)
        lengths = Dictionary(
            uniqueKeysWithValues: Set(minutes).map { minutes in
                (minutes, RequestSignal.allCases.map { noise.borrowing($0, minutes: minutes) })
            })
    }

    /// The noise of a signal in windows of a length in minutes; unknown for other lengths than those asked for.
    package subscript(signal: RequestSignal, minutes: Int) -> OfLength {
        lengths[minutes]?[signal.rawValue] ?? .unknown
    }
}

/// The measurement of the noise of a row.
private struct NoiseOfPast {
    private let past: RowHistory
    /// The end of the past, in slots.
    private let end: Int
    private let block: Int

    init(_ past: RowHistory, end: Int) {
        self.past = past
        self.end = end / past.slotMinutes - past.first
        block = WindowParts.block(past.slotMinutes)
    }

    /// Returns the noise of windows of a length. If the past has too few of them, it is that of the longest shorter ones of which
    /// there are enough, as if minutes had the assumed autocorrelation.
    func borrowing(_ signal: RequestSignal, minutes: Int) -> RowNoise.OfLength {
        let own = measured(signal, slots: slots(minutes))
        var shorter = minutes
        while !own.isKnown, shorter >= 2 * VerdictConstants.blockMinutes {
            shorter = WindowParts.wholeBlocks(shorter / 2, block: VerdictConstants.blockMinutes)
            let found = measured(signal, slots: slots(shorter))
            guard found.isKnown else { continue }
            let factor =
                VerdictConstants.borrowed * MeanVariance.ofMinutes(Double(minutes))
                / MeanVariance.ofMinutes(Double(shorter))
            return .init(worse: found.worse * factor, better: found.better * factor, windows: found.windows)
        }
        return own
    }

    /// Returns the number of slots that is nearest to a length.
    private func slots(_ minutes: Int) -> Int { max((minutes + past.slotMinutes / 2) / past.slotMinutes, 1) }

    /// Returns the least noise with which, of the differences between a window and those before it, 9 of 10 lie within 1.645
    /// standard errors, and 19 of 20 are no further up, or down. The 9 of 10 are also counted by their requests, because those
    /// of a job each hour are in few windows.
    private func measured(_ signal: RequestSignal, slots: Int) -> RowNoise.OfLength {
        let step = max(block, WindowParts.wholeBlocks(slots / 2, block: block))
        let differences = self.differences(signal, slots: slots, step: step)
        let errors = VerdictConstants.withinErrors
        let both = differences.map { (value: $0.of.noise(for: $0.of.difference, in: errors), weight: $0.requests) }
            .sorted { $0.value < $1.value }
        let up = differences.map { $0.of.noise(for: max($0.of.difference, 0), in: errors) }.sorted()
        let down = differences.map { $0.of.noise(for: min($0.of.difference, 0), in: errors) }.sorted()
        let side = VerdictConstants.sideShare
        let least = max(0, quantile(both.map(\.value), VerdictConstants.withinShare), weightedQuantile(both))
        return .init(
            worse: max(least, quantile(up, side)), better: max(least, quantile(down, side)),
            windows: Double(differences.count) * Double(step) / Double(slots))
    }

    /// Returns the differences between windows of the past and those before them, and the requests of each window.
    private func differences(
        _ signal: RequestSignal, slots: Int, step: Int
    ) -> [(of: WindowDifference, requests: Double)] {
        let reference = slots * WindowParts.referenceWindows(minutes: slots * past.slotMinutes)
        let earliest = max(end - VerdictConstants.pastMinutes / past.slotMinutes, reference + slots)
        let least = VerdictConstants.minPastRequests
        return stride(from: end, through: earliest, by: -step).compactMap { end in
            let after = past.counts(signal, to: end, slots: slots)
            let before = past.counts(signal, to: end - slots, slots: reference)
            guard after.all >= least, before.all >= least else { return nil }
            return (WindowDifference(after, from: before), after.all)
        }
    }

    private func quantile(_ sorted: [Double], _ share: Double) -> Double {
        guard !sorted.isEmpty else { return 0 }
        return sorted[max(Int((share * Double(sorted.count)).rounded(.up)) - 1, 0)]
    }

    /// Returns the least value up to which ``VerdictConstants/withinShare`` of the weight lies.
    private func weightedQuantile(_ sorted: [(value: Double, weight: Double)]) -> Double {
        let wanted = VerdictConstants.withinShare * sorted.reduce(0) { $0 + $1.weight }
        var sum = 0.0
        for (value, weight) in sorted {
            sum += weight
            if sum >= wanted { return value }
        }
        return sorted.last?.value ?? 0
    }
}

/// The parts of a window that are compared as well, and the windows before it that it is compared with. Lengths are in minutes or in
/// slots.
enum WindowParts {
    /// Returns half of a length, a quarter and an eighth, in whole blocks; none that is shorter than a block.
    static func lengths(of length: Int, block: Int = VerdictConstants.blockMinutes) -> [Int] {
        Set([2, 4, 8].map { wholeBlocks(length / $0, block: block) }.filter { $0 >= block }).sorted()
    }

    static func wholeBlocks(_ length: Int, block: Int) -> Int { length / block * block }

    /// Returns the slots of a block.
    static func block(_ slotMinutes: Int) -> Int {
        max((VerdictConstants.blockMinutes + slotMinutes - 1) / slotMinutes, 1)
    }

    /// Returns how many windows before a window it is compared with.
    static func referenceWindows(minutes: Int) -> Int {
        max(VerdictConstants.minReferenceWindows, VerdictConstants.referenceMinutes / max(minutes, 1))
    }
}
