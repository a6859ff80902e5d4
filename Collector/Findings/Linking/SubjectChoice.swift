/// Chooses what a finding is about: the endpoint that has most of a service's trouble, or the service.
struct SubjectChoice {
    let rows: RowTable
    /// The first slot with data, and the one after the last.
    let begin: Slot
    let now: Slot
    /// The findings whose slowness was found at several endpoints. They keep the service as subject.
    private(set) var wide: Set<String>

    init(rows: RowTable, begin: Slot, now: Slot, wide: Set<String>) {
        (self.rows, self.begin, self.now, self.wide) = (rows, begin, now, wide)
    }

    /// Returns the subject, and changes what the episodes remember of it.
    mutating func subject(of draft: FindingDraft, _ episodes: inout EpisodeList) -> FindingSubject {
        guard let main = episodes[draft.main] else { return draft.subject }
        switch main.place {
        case .service(let service): return FindingSubject(service: service)
        case .row(let index):
            let members = draft.members.compactMap { episodes[$0] }.filter { $0.kind == main.kind }
            return main.kind == .slow
                ? subject(ofSlow: draft.id, rows[index].row, members)
                : subject(ofRow: rows[index].row, main, members, &episodes)
        }
    }

    private mutating func subject(ofSlow id: String, _ row: FindingRow, _ members: [Episode]) -> FindingSubject {
        let (most, all) = (members.map(\.excess).max() ?? 0, members.reduce(0) { $0 + $1.excess })
        if row.kind == .server, members.count > 1, most < FindingConstants.subjectShare * all { wide.insert(id) }
        return wide.contains(id) ? FindingSubject(service: row.service, kind: .server) : row.subject
    }

    private func subject(
        ofRow row: FindingRow, _ main: Episode, _ members: [Episode], _ episodes: inout EpisodeList
    ) -> FindingSubject {
        let total = rows.total(of: row.service).map { Place.row($0) }
        let wide = main.kind == .failing ? members.first { $0.place == total } : nil
        guard let episode = wide ?? (row.isTotal ? main : nil) else { return row.subject }
        let widest = widest(row.service, episode)
        episodes.change(episode.number) { $0.widest = widest }
        if case .endpoint(let index)? = widest {
            let row = rows[index].row
            return FindingSubject(service: row.service, kind: .server, method: row.method, endpoint: row.endpoint)
        }
        return FindingSubject(service: row.service, kind: .server)
    }

    // MARK: A service's failures

    private struct Part {
        let index: Int
        /// Failures that would not have been before.
        let excess: Double
        let share: Share
    }

    /// Returns the endpoint that has most of a service's failures and fails more often than the others, else the service.
    /// Another answer than before needs evidence.
    private func widest(_ service: String, _ episode: Episode) -> WidestSubject? {
        let parts = (rows.served[service] ?? []).map { part($0, episode) }
        guard let top = parts.max(by: { $0.excess < $1.excess }) else { return episode.widest }
        let all = parts.reduce(0) { $0 + max($1.excess, 0) }
        let others = max(all - top.excess, 0)
        let evidence = difference(top, parts)
        let isMost = top.excess >= FindingConstants.subjectShare * (top.excess + others)
        let isAlone = isMost && evidence.map { $0 >= FindingConstants.other } ?? true
        let chosen = isAlone ? WidestSubject.endpoint(top.index) : .service
        guard let before = episode.widest, before != chosen else { return chosen }
        switch before {
        case .service: return isAlone && evidence ?? 0 >= 2 * FindingConstants.other ? chosen : .service
        case .endpoint(let index):
            let known = parts.first { $0.index == index }?.excess ?? 0
            let isKnownStillMost = known >= FindingConstants.subjectShare * all
            return isKnownStillMost || others < 2 * FindingConstants.other ? before : chosen
        }
    }

    /// The evidence that an endpoint fails more often than the others; `nil` if there are too few other requests.
    private func difference(_ top: Part, _ parts: [Part]) -> Double? {
        let all = parts.reduce(Share(bad: 0, all: 0)) {
            Share(bad: $0.bad + $1.share.bad, all: $0.all + $1.share.all)
        }
        let others = Share(bad: all.bad - top.share.bad, all: all.all - top.share.all)
        return others.all < 20 ? nil : EvidenceScore.ofDifference(top.share, others)
    }

    private func part(_ index: Int, _ episode: Episode) -> Part {
        let share = rows[index].share(ofFailuresIn: episode.slots(until: now))
        let usual = episode.start > begin ? usualShare(index, before: episode.start) : episode.usualShare
        return Part(index: index, excess: share.bad - share.all * usual, share: share)
    }

    private func usualShare(_ index: Int, before slot: Slot) -> Double {
        let history = rows[index].failures
        let end = max(FindingTime.minute(of: slot), history.minutes.lowerBound)
        let before = (history.minutes.lowerBound..<end).filter(history.isUsable)
        let bad = before.reduce(0) { $0 + history.atLeast(0, in: $1) }
        return bad / max(before.reduce(0) { $0 + history.requests(in: $1) }, 1)
    }
}
