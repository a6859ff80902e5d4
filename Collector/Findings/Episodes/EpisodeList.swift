/// All episodes that are remembered, in the order in which they were found.
struct EpisodeList {
    private(set) var all: [Episode] = []
    private var nextNumber = 0

    subscript(number: Int) -> Episode? { index(of: number).map { all[$0] } }

    /// Returns the places that have an open episode of a kind.
    func openPlaces(_ kind: FindingKind) -> Set<Place> {
        Set(all.lazy.filter { $0.isOpen && $0.kind == kind }.map(\.place))
    }

    func last(where isWanted: (Episode) -> Bool) -> Episode? { all.last(where: isWanted) }

    mutating func add(
        _ kind: FindingKind, at place: Place, opened: Minute, start: Slot, onset: Episode.Onset = .change
    ) -> Episode {
        let episode = Episode(nextNumber, kind, at: place, opened: opened, start: start, onset: onset)
        nextNumber += 1
        all.append(episode)
        return episode
    }

    /// Ends an episode where it ended before it came back, and makes what has happened since a new one.
    mutating func split(_ number: Int, minute: Minute) {
        guard let old = self[number], let resumed = old.resumed, let end = old.endBefore else { return }
        let new = add(old.kind, at: old.place, opened: minute, start: resumed).number
        change(new) { $0.goOn(from: old) }
        change(number) {
            ($0.isOpen, $0.end, $0.isWhoFinal) = (false, end, false)
            ($0.resumed, $0.closedBefore, $0.endBefore) = (nil, end, nil)
        }
    }

    mutating func change(_ number: Int, _ body: (inout Episode) -> Void) {
        if let index = index(of: number) { body(&all[index]) }
    }

    mutating func changeEach(_ body: (inout Episode) -> Void) {
        for index in all.indices { body(&all[index]) }
    }

    mutating func remove(_ numbers: Set<Int>) {
        if !numbers.isEmpty { all.removeAll { numbers.contains($0.number) } }
    }

    /// Forgets episodes that ended before all that is kept, and the oldest closed ones if there are too many.
    mutating func forget(endedBefore slot: Slot) {
        all.removeAll { !$0.isOpen && $0.end ?? slot < slot }
        while all.count > FindingConstants.episodes {
            all.remove(at: all.firstIndex { !$0.isOpen } ?? all.startIndex)
        }
    }

    private func index(of number: Int) -> Int? {
        var (low, high) = (all.startIndex, all.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if all[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < all.endIndex && all[low].number == number ? low : nil
    }
}

extension Episode {
    /// Takes what is known of another episode's requests.
    fileprivate mutating func goOn(from old: Episode) {
        (bucket, status, counts) = (old.bucket, old.status, old.counts)
        (usualShare, badShare, patience) = (old.usualShare, old.badShare, old.patience)
        (isOpen, end) = (old.isOpen, old.end)
        excess = excess(in: 0..<(counts?.end ?? start), now: counts?.end ?? start)
    }
}

// MARK: Kinds that are counted by events

extension EpisodeList {
    /// Notes events of a kind that is never normal: they belong to the latest episode of the place if that goes on or is over
    /// for less than half an hour.
    ///
    /// - Parameters:
    ///   - slots: the slots of the events, in order, at least one.
    ///   - change: what else changes in the episode.
    mutating func note(
        _ kind: FindingKind, at place: Place, _ slots: [Slot], minute: Minute,
        change: (inout Episode) -> Void = { _ in }
    ) {
        guard let first = slots.first else { return }
        let known = all.last {
            $0.kind == kind && $0.place == place
                && ($0.isOpen || first - ($0.end ?? first) < FindingConstants.sameEpisode)
                && $0.start - first < FindingConstants.sameEpisode
        }
        let number = (known ?? add(kind, at: place, opened: minute, start: first)).number
        self.change(number) { episode in
            episode.events += kind == .ended ? slots : slots.filter { !episode.events.contains($0) }
            // The end of a process is reported by the next one, which may start later than others.
            if kind == .ended { episode.start = min(episode.start, first) }
            (episode.isOpen, episode.end) = (true, nil)
            change(&episode)
        }
    }

    /// Closes episodes of events once three of their usual gaps have passed without one, and at least the kind's own time.
    mutating func closeQuiet(now: Slot) {
        changeEach { episode in
            guard episode.isOpen, let least = episode.kind.quietSlots, let last = episode.events.max() else { return }
            let gaps = max(Set(episode.events).count - 1, 1)
            guard Double(now - last) > max(Double(least), 3 * Double(last - episode.start) / Double(gaps)) else {
                return
            }
            (episode.isOpen, episode.end) = (false, last + 1)
        }
    }
}

extension FindingKind {
    /// Slots without an event after which an episode is over: ten minutes for processes that end, as long as a supervisor waits
    /// before it starts one again; `nil` for kinds that end in another way.
    fileprivate var quietSlots: Int? {
        switch self {
        case .ended: 60
        case .lost: 30
        case .starved: 12
        case .hung: 90
        default: nil
        }
    }
}
