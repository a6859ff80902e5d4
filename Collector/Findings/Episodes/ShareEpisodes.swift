import Foundation

/// Opens, continues and closes the episodes of failures and of durations.
struct ShareEpisodes {
    /// Slots whose counts may still change: late points of the last five minutes.
    private static let late = 30

    let minute: Minute
    /// The first slot with data.
    let begin: Slot
    /// The episodes that explain an episode, by its number.
    let causes: [Int: [Int]]

    private var now: Slot { FindingTime.slot(of: minute + 1) }
    /// Minutes of data.
    private var minutes: Int { minute + 1 - FindingTime.minute(of: begin) }

    // MARK: Going on

    /// Moves the times of open episodes to where the newest counts say.
    func refine(_ episodes: inout EpisodeList, _ rows: inout RowTable) {
        for episode in episodes.all where episode.isOpen && episode.counts != nil && episode.kind != .newError {
            refine(episode.number, &episodes, &rows)
        }
    }

    private func refine(_ number: Int, _ episodes: inout EpisodeList, _ rows: inout RowTable) {
        guard let index = episodes[number]?.place.row else { return }
        var closed: (minutes: Range<Minute>, kind: FindingKind)?
        episodes.change(number) { episode in
            fill(&episode, rows[index])
            guard let times = EpisodeTimes(episode, rows[index].history(of: episode.kind), begin: begin) else { return }
            times.refine(&episode)
            guard let end = episode.end else { return }
            let start = FindingTime.minute(of: episode.currentStretch(until: now).lowerBound)
            closed = (start..<max(start, FindingTime.minute(after: end)), episode.kind)
        }
        if let closed { rows.exclude(closed.minutes, of: index, from: closed.kind) }
    }

    private func fill(_ episode: inout Episode, _ series: RowSeries) {
        var counts = episode.counts ?? EpisodeCounts(first: max(begin, series.slots.lowerBound))
        let from = max(counts.first, min(counts.end, now - Self.late))
        counts.replace(
            from: from,
            (from..<max(from, now)).map { slot in
                episode.kind == .slow
                    ? series.share(atLeast: episode.bucket, in: slot)
                    : Share(bad: series.failures(in: slot), all: series.requests(in: slot))
            })
        episode.counts = counts
    }

    // MARK: Beginning

    /// Looks for failures in rows that have no open episode.
    func findFailures(_ episodes: inout EpisodeList, _ rows: inout RowTable) {
        let watched = rows.watched
        let scan = FailureScan(minutes: minutes, rows: watched.count)
        let open = episodes.openPlaces(.failing)
        let known = Set(episodes.all.lazy.filter { $0.kind == .failing }.map(\.place))
        var rises: [(index: Int, change: FoundChange)] = []
        for index in watched where !open.contains(.row(index)) {
            if let change = scan.rise(in: rows[index].failures) {
                rises.append((index, change))
            } else if !known.contains(.row(index)) {
                findOldFailures(index, scan, &episodes, &rows)
            }
        }
        begin(.failing, rises, &episodes, &rows)
    }

    private func findOldFailures(
        _ index: Int, _ scan: FailureScan, _ episodes: inout EpisodeList, _ rows: inout RowTable
    ) {
        if let change = scan.relief(in: rows[index].failures) {
            begin(.failing, index, change, .over, &episodes, &rows)
        } else if scan.isBadByItself(rows[index].failures) {
            begin(.failing, index, FoundChange(evidence: 0, lag: 0, bucket: 0), .always, &episodes, &rows)
        }
    }

    /// Looks for slowness in rows that have no open episode.
    func findSlowness(_ episodes: inout EpisodeList, _ rows: inout RowTable) {
        let watched = rows.watched
        let scan = DurationScan(minutes: minutes, rows: watched.count)
        let open = episodes.openPlaces(.slow)
        let known = Set(episodes.all.lazy.filter { $0.kind == .slow }.map(\.place))
        var rises: [(index: Int, change: FoundChange)] = []
        for index in watched where !open.contains(.row(index)) && !rows[index].row.isTotal {
            if let change = scan.rise(in: rows[index].durations) {
                rises.append((index, change))
            } else if !known.contains(.row(index)), let change = scan.relief(in: rows[index].durations) {
                begin(.slow, index, change, .over, &episodes, &rows)
            }
        }
        begin(.slow, rises, &episodes, &rows)
    }

    /// Begins with the causes, so that what they explain comes back with them.
    private func begin(
        _ kind: FindingKind, _ rises: [(index: Int, change: FoundChange)], _ episodes: inout EpisodeList,
        _ rows: inout RowTable
    ) {
        let known = episodes
        func waits(_ index: Int) -> Bool { last(kind, index, known).map { isOver($0, known) } ?? false }
        for (index, change) in rises.filter({ !waits($0.index) }) + rises.filter({ waits($0.index) }) {
            begin(kind, index, change, .change, &episodes, &rows)
        }
    }

    private func begin(
        _ kind: FindingKind, _ index: Int, _ change: FoundChange, _ onset: Episode.Onset,
        _ episodes: inout EpisodeList, _ rows: inout RowTable
    ) {
        let changed = FindingTime.slot(of: minute + 1 - change.lag)
        if onset == .change, let earlier = earlier(kind, index, changed, episodes) {
            resume(earlier, changed, &episodes)
            return refine(earlier.number, &episodes, &rows)
        }
        let start = onset == .change ? changed : begin
        let number = episodes.add(kind, at: .row(index), opened: minute, start: start, onset: onset).number
        episodes.change(number) { episode in
            episode.bucket = change.bucket
            if onset == .over { episode.end = changed }
            if onset == .always { episode.usualShare = Episode.usualShareIfAlways }
            fill(&episode, rows[index])
            guard kind == .slow, let counts = episode.counts else { return }
            episode.patience = min(4, 1 + counts.share(in: counts.first..<counts.end).bad / 500)
        }
        refine(number, &episodes, &rows)
    }

    /// The row's episode that was closed less than half an hour before, unless its cause is over.
    private func earlier(_ kind: FindingKind, _ index: Int, _ start: Slot, _ episodes: EpisodeList) -> Episode? {
        guard let last = last(kind, index, episodes), !isOver(last, episodes),
            start - (last.end ?? start) < FindingConstants.sameEpisode
        else { return nil }
        return last
    }

    private func last(_ kind: FindingKind, _ index: Int, _ episodes: EpisodeList) -> Episode? {
        episodes.last { $0.kind == kind && $0.place == .row(index) }
    }

    /// Whether an episode was explained by others, and they are over: the same trouble in its place now has another cause.
    private func isOver(_ episode: Episode, _ episodes: EpisodeList) -> Bool {
        let causes = causes[episode.number] ?? []
        return !causes.isEmpty && !causes.contains { episodes[$0]?.isOpen ?? false }
    }

    private func resume(_ earlier: Episode, _ start: Slot, _ episodes: inout EpisodeList) {
        episodes.change(earlier.number) {
            ($0.isOpen, $0.end, $0.endBefore, $0.isWhoFinal) = (true, nil, $0.end, false)
            $0.resumed = max(start - FindingTime.slotsOfMinute, $0.closedBefore ?? start)
        }
    }
}
