import Foundation

/// Finds what is never normal for a row: requests without an answer, and an error that it never answered with.
struct RowEventDetector {
    let minute: Minute

    private var now: Slot { FindingTime.slot(of: minute + 1) }
    private var begin: Slot { FindingTime.slot(of: minute) }

    func look(at rows: RowTable, _ episodes: inout EpisodeList) {
        for index in rows.watched {
            noteHung(index, rows[index], &episodes)
            for status in rows[index].statuses { note(status, index, rows[index], &episodes) }
        }
        closeErrors(rows, &episodes)
    }

    // MARK: Hung requests

    private func noteHung(_ index: Int, _ series: RowSeries, _ episodes: inout EpisodeList) {
        guard let last = series.hung.last, last.slot >= begin, series.hung.reduce(0, { $0 + $1.count }) >= 2 else {
            return
        }
        let slots = series.hung.flatMap { Array(repeating: $0.slot, count: min($0.count, 1000)) }
        episodes.note(.hung, at: .row(index), slots, minute: minute) { episode in
            episode.events = episode.events.filter { $0 < series.hung.first?.slot ?? 0 }.suffix(1000) + slots
        }
    }

    // MARK: New errors

    private func note(_ status: StatusHistory, _ index: Int, _ series: RowSeries, _ episodes: inout EpisodeList) {
        guard let first = status.first, let last = status.last, last >= begin,
            status.total >= Double(FindingConstants.newErrors)
        else { return }
        let known = episodes.last {
            $0.kind == .newError && $0.place == .row(index) && $0.status == status.status
        }
        if let known {
            if !known.isOpen { episodes.change(known.number) { ($0.isOpen, $0.end) = (true, nil) } }
            return
        }
        let before = series.share(ofFailuresIn: series.slots.lowerBound..<max(first, series.slots.lowerBound)).all
        let since = series.share(ofFailuresIn: max(first, series.slots.lowerBound)..<now).all
        let (new, reference) = (Share(bad: status.total, all: since), Share(bad: 0, all: before))
        guard EvidenceScore.ofDifference(new, reference) >= FindingConstants.newErrorEvidence else { return }
        let episode = episodes.add(.newError, at: .row(index), opened: minute, start: first)
        episodes.change(episode.number) {
            ($0.status, $0.usualShare) = (status.status, 0.5 / (before + 1))
            $0.counts = EpisodeCounts(first: max(first, series.slots.lowerBound))
        }
    }

    /// Closes new errors once so many requests had none that the error would have been among them.
    private func closeErrors(_ rows: RowTable, _ episodes: inout EpisodeList) {
        episodes.changeEach { episode in
            guard episode.kind == .newError, episode.isOpen, let index = episode.place.row, var counts = episode.counts,
                let status = rows[index].statuses.first(where: { $0.status == episode.status }), let last = status.last
            else { return }
            let from = min(counts.end, now - 30)
            counts.replace(
                from: max(from, counts.first),
                (max(from, counts.first)..<now).map {
                    Share(bad: status.count(in: $0), all: rows[index].requests(in: $0))
                })
            episode.counts = counts
            let since = counts.share(in: episode.start..<max(episode.start, last + 1)).value
            let good = counts.share(in: last + 1..<max(last + 1, now)).all
            guard good * -log(max(1 - since, 1e-9)) > FindingConstants.over else { return }
            (episode.isOpen, episode.end) = (false, last + 1)
        }
    }
}
