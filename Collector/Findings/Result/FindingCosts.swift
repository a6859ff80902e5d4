/// Counts what a finding costs people within a window.
struct FindingCosts {
    let rows: RowTable
    /// The slot after the last one.
    let now: Slot
    let window: Range<Slot>

    /// - Parameters:
    ///   - members: the episodes with the same cause.
    ///   - sufferers: those that suffer from it. Their requests count, and not their time: it is that of the members again.
    func cost(_ main: Episode, _ members: [Episode], _ sufferers: [Episode]) -> FindingCost {
        let requests = (members + sufferers).reduce(0) { $0 + $1.excess(in: window, now: now) }
        return FindingCost(
            requests: Int(requests.rounded()), seconds: members.reduce(0) { $0 + delay(of: $1) }.rounded(),
            processes: main.kind == .ended ? main.events.count(where: window.contains) : 0)
    }

    /// What the requests of a slow row took longer than before, all together, in seconds.
    private func delay(of episode: Episode) -> Double {
        guard episode.kind == .slow, let index = episode.place.row, let counts = episode.counts else { return 0 }
        let (durations, slots) = (rows[index].durations, episode.slots(until: now))
        let minutes = FindingTime.minute(of: slots.lowerBound)..<FindingTime.minute(after: slots.upperBound)
        let good = durations.minutes.filter { durations.isUsable($0) && !minutes.contains($0) }
        let earlier = good.filter { $0 < minutes.lowerBound }
        guard let slow = durations.meanSeconds(in: minutes),
            let usual = durations.meanSeconds(in: earlier) ?? durations.meanSeconds(in: good)
        else { return 0 }
        return max(0, slow - usual) * counts.share(in: slots.clamped(to: window)).all
    }
}
