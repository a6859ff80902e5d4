import Foundation

/// Finds when an episode began and ended: the stretch of slots that is likeliest to be bad. Each slot weighs for or against, by
/// how much likelier its counts are with the bad share than with the usual one; the stretch is the one with the greatest sum.
struct EpisodeTimes {
    /// The slots that are looked at.
    private let slots: Range<Slot>
    private let counts: EpisodeCounts
    /// For each slot, whether it belongs to no closed episode.
    private let isUsable: [Bool]

    /// - Parameters:
    ///   - history: the history that the episode's kind is judged by.
    ///   - begin: the first slot with data.
    init?(_ episode: Episode, _ history: MinuteHistory, begin: Slot) {
        guard let counts = episode.counts else { return nil }
        self.counts = counts
        slots = max(counts.first, begin)..<max(counts.end, begin)
        isUsable = slots.map { history.isUsable(FindingTime.minute(of: $0)) }
    }

    /// Moves the episode's beginning and end to where the counts say, and closes it if "as before" is certain.
    func refine(_ episode: inout Episode) {
        guard !slots.isEmpty else { return }
        var stretch = episode.currentStretch(until: slots.upperBound).clamped(to: slots)
        var sums: [Double] = []
        for _ in 0..<3 {
            setShares(of: &episode, stretch)
            sums = weightSums(episode, from: stretch.lowerBound)
            let better = self.stretch(of: episode, sums, stretch)
            if better == stretch { break }
            stretch = better
        }
        setStart(of: &episode, stretch, sums)
        close(&episode, stretch, sums)
    }

    // MARK: Shares

    /// Sets the usual share, from what is outside of the stretch, and the bad one.
    private func setShares(of episode: inout Episode, _ stretch: Range<Slot>) {
        if !isAlways(episode, stretch), let share = usualShare(episode, stretch) { episode.usualShare = share }
        let inside = counts.share(in: stretch)
        let share = (inside.bad + 0.5) / (inside.all + 1)
        episode.badShare = min(max(share, episode.usualShare * 1.3, episode.usualShare + 0.005), 0.995)
    }

    /// Returns the share before, or of all outside if there is nothing before; `nil` if all that is kept is bad.
    private func usualShare(_ episode: Episode, _ stretch: Range<Slot>) -> Double? {
        guard isBeginningKept(episode) else { return nil }
        let isAfterwardsUsed = episode.resumed != nil || stretch.lowerBound == slots.lowerBound
        var outside = Share(bad: 0, all: 0)
        for slot in slots where isUsable[slot - slots.lowerBound] && !stretch.contains(slot) {
            guard slot < stretch.lowerBound || isAfterwardsUsed else { break }
            outside.bad += counts.bad[slot - counts.first]
            outside.all += counts.all[slot - counts.first]
        }
        let share = min((outside.bad + 0.5) / (outside.all + 1.5), 0.8)
        return outside.all < 10 ? min(share, episode.kind == .slow ? 0.6 : 0.02) : share
    }

    /// Whether it has been bad since the data began, so that nothing shows what is usual.
    private func isAlways(_ episode: Episode, _ stretch: Range<Slot>) -> Bool {
        episode.onset == .always && stretch.lowerBound == slots.lowerBound
            && episode.usualShare == Episode.usualShareIfAlways
    }

    /// Whether slots from before the episode are still kept.
    private func isBeginningKept(_ episode: Episode) -> Bool { episode.start >= slots.lowerBound }

    // MARK: The likeliest stretch

    /// Returns the running sum of the slots' weights, beginning with 0.
    private func weightSums(_ episode: Episode, from start: Slot) -> [Double] {
        let usual = max(episode.usualShare, 1e-6)
        let bad = log(episode.badShare / usual)
        let good = log((1 - episode.badShare) / (1 - usual))
        var sums = [0.0]
        sums.reserveCapacity(slots.count + 1)
        var sum = 0.0
        for slot in slots {
            if isUsable[slot - slots.lowerBound] || slot >= start {
                let (x, n) = (counts.bad[slot - counts.first], counts.all[slot - counts.first])
                sum += x * bad + (n - x) * good
            }
            sums.append(sum)
        }
        return sums
    }

    private func stretch(of episode: Episode, _ sums: [Double], _ stretch: Range<Slot>) -> Range<Slot> {
        let isFixed = episode.resumed != nil || !isBeginningKept(episode)
        if episode.onset == .over && !isFixed { return slots.lowerBound..<slot(Self.highest(sums[1...])) }
        let earliest = isFixed ? stretch.lowerBound : max(episode.earliestStart, slots.lowerBound)
        let end = Self.highest(sums[min(earliest - slots.lowerBound + 1, sums.count - 1)...])
        let start = isFixed ? stretch.lowerBound : slot(Self.lastLowest(sums[..<max(end, 1)]))
        return start..<max(start, slot(end))
    }

    private func slot(_ index: Int) -> Slot { slots.lowerBound + index }

    /// The first index of the greatest value.
    private static func highest(_ sums: ArraySlice<Double>) -> Int {
        sums.indices.reduce(sums.startIndex) { sums[$1] > sums[$0] ? $1 : $0 }
    }

    /// The last index of the smallest value.
    private static func lastLowest(_ sums: ArraySlice<Double>) -> Int {
        sums.indices.reduce(sums.startIndex) { sums[$1] <= sums[$0] ? $1 : $0 }
    }

    // MARK: Beginning and end

    private func setStart(of episode: inout Episode, _ stretch: Range<Slot>, _ sums: [Double]) {
        guard episode.resumed == nil, isBeginningKept(episode) else { return }
        episode.start = stretch.lowerBound
        let drop = sums[0] - sums[stretch.lowerBound - slots.lowerBound]
        episode.isStartKnown = stretch.lowerBound > slots.lowerBound && drop >= FindingConstants.startIsKnown
    }

    private func close(_ episode: inout Episode, _ stretch: Range<Slot>, _ sums: [Double]) {
        let drop = sums[stretch.upperBound - slots.lowerBound] - (sums.last ?? 0)
        let isOver =
            drop >= FindingConstants.over * episode.patience
            && slots.upperBound - stretch.upperBound >= FindingConstants.quiet && !stretch.isEmpty
        episode.end = isOver ? stretch.upperBound : nil
        guard isOver else { return }
        episode.isOpen = false
        episode.closedBefore = stretch.upperBound
    }
}

extension Episode {
    /// The share of failures that is assumed to be usual where all the time is bad.
    static let usualShareIfAlways = 0.01

    /// The slots since it began, or since it came back.
    func currentStretch(until now: Slot) -> Range<Slot> {
        let start = resumed ?? start
        return start..<max(start, end ?? now)
    }
}
