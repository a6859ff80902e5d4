/// Counts what a finding costs people within a window.
struct FindingCosts {
    let rows: RowTable
    /// The slot after the last one.
    let now: Slot
    let window: Range<Slot>

    /// - Parameters:
    ///   - members: the episodes with the same cause.
    ///   - sufferers: those that suffer from it.
    func cost(_ main: Episode, _ members: [Episode], _ sufferers: [Episode]) -> FindingCost {
        FindingCost(
            requests: Int(requests(members + sufferers).rounded()),
            seconds: members.reduce(0) { $0 + delay(of: $1) }.rounded(),
            processes: main.kind == .ended ? main.events.count(where: window.contains) : 0)
    }

    /// The rank of a finding: requests, those of each row that suffers, and processes that ended.
    func rank(_ cost: FindingCost, _ members: [Episode], _ sufferers: [Episode]) -> Double {
        (members + sufferers).reduce(0) { $0 + $1.excess(in: window, now: now) }
            + FindingConstants.deathInRequests * Double(cost.processes)
    }

    /// The bad requests of the service that has the most. One request of a user is a request of each service that it passes, at
    /// both ends, so the sum over services would count it several times.
    private func requests(_ episodes: [Episode]) -> Double {
        let rows = Dictionary(grouping: episodes) { $0.place.row.map { End(self.rows[$0].row) } }
        return rows.values.map { $0.reduce(0) { $0 + $1.excess(in: window, now: now) } }.max() ?? 0
    }

    /// One end of requests: rows whose requests are different ones.
    private struct End: Hashable {
        let service: String
        let kind: FindingRow.Kind
        let isTotal: Bool

        init(_ row: FindingRow) { (service, kind, isTotal) = (row.service, row.kind, row.isTotal) }
    }

    /// Returns the time that the requests of a slow row took longer than before, all together, in seconds.
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
