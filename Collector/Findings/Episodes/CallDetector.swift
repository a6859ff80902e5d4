/// Finds served endpoints that make many requests for each that they serve. Counts do not say which endpoint makes a request,
/// but endpoints that are not always served together have different ratios, which least squares find.
struct CallDetector {
    /// Minutes between looks, the minutes that are looked at, and those for an end.
    private static let pace = 3, lags = [3, 10, longestLag], longestLag = 30, lagOfEnd = 5
    /// Slots before which a row is too young to say what is usual for it: ten minutes.
    private static let young = 60
    /// Slots before which a change cannot have begun that is found now: an hour. If it seems to be older, other endpoints make the
    /// calls.
    private static let earliest = 360

    let minute: Minute
    /// The first slot with data.
    let begin: Slot

    private var now: Slot { FindingTime.slot(of: minute + 1) }

    func look(at rows: RowTable, _ episodes: inout EpisodeList) {
        guard (minute + 1 - FindingTime.minute(of: begin)) % Self.pace == 0 else { return }
        let known = episodes.all.filter { $0.kind == .calls }
        for (service, made) in rows.made.sorted(by: { $0.key < $1.key }) {
            guard let served = rows.served[service], !served.isEmpty else { continue }
            let endpoints = rows.distinguished(served)
            for made in Self.byEndpoint(made, rows) {
                let calls = Calls(made: made, served: endpoints)
                if let open = known.last(where: { $0.isOpen && $0.calls?.made == made }) {
                    goOn(open, calls, rows, &episodes)
                } else {
                    find(calls, rows, &episodes)
                }
            }
        }
    }

    /// Returns the rows of each endpoint that is called, whatever the host.
    private static func byEndpoint(_ made: [Int], _ rows: RowTable) -> [[Int]] {
        Dictionary(grouping: made) { rows[$0].row.subject.withoutHost }.values.sorted { $0[0] < $1[0] }
    }

    /// Closes an open episode, or counts its calls again: those of a young row were partly from before.
    private func goOn(_ open: Episode, _ calls: Calls, _ rows: RowTable, _ episodes: inout EpisodeList) {
        guard let ratio = open.calls else { return }
        if isOver(ratio, calls, rows) {
            let end = now - Self.lagOfEnd * FindingTime.slotsOfMinute
            return episodes.change(open.number) { ($0.isOpen, $0.end) = (false, max(end, $0.start)) }
        }
        let slots = max(begin, open.start, now - Self.longestLag * FindingTime.slotsOfMinute)..<now
        let columns = calls.served.map { rows[$0].folded(slots) }
        let ratios = LeastSquares.nonNegative(columns, rows.folded(calls.made, slots))
        guard let index = calls.served.firstIndex(of: ratio.served), ratios[index] > ratio.perRequest else { return }
        episodes.change(open.number) { $0.calls?.perRequest = ratios[index] }
    }

    private func find(_ calls: Calls, _ rows: RowTable, _ episodes: inout EpisodeList) {
        let looks = Self.lags.lazy.compactMap { lag in
            let from = max(begin, now - lag * FindingTime.slotsOfMinute)
            return ratio(calls, in: from..<now, before: from, rows)
        }
        guard let first = looks.first else { return }
        let start = start(of: first, rows)
        guard first.before == nil || start >= now - Self.earliest,
            let ratio = confirmed(first, calls, since: start, rows)
        else { return }
        let number = episodes.add(.calls, at: .row(ratio.served), opened: minute, start: start).number
        episodes.change(number) {
            $0.calls = ratio
            $0.isStartKnown = start > begin && requests([ratio.served], begin..<start, rows) >= 3
        }
    }

    // MARK: Ratios

    /// Returns how often an endpoint makes the calls, if that is often and more often than before.
    ///
    /// - Parameter before: the slot before which the calls were as usual.
    private func ratio(_ calls: Calls, in slots: Range<Slot>, before: Slot, _ rows: RowTable) -> CallRatio? {
        let made = requests(calls.made, slots, rows)
        guard made >= 30, isMore(made, calls, slots.lowerBound, rows) else { return nil }
        let target = rows.folded(calls.made, slots)
        let columns = calls.served.map { rows[$0].folded(slots) }
        // With as many steps as endpoints, any of them may seem to make the calls.
        guard target.count >= 2 * columns.count(where: { $0.total > 0 }) else { return nil }
        let usual = before - begin >= Self.young ? usualRatios(calls, before: before, rows) : nil
        guard let best = best(columns, target, usual) else { return nil }
        let served = columns[best.index].total
        let usually = usual.flatMap { $0.served[best.index] >= 3 ? $0.ratios[best.index] : nil }
        guard best.ratio >= FindingConstants.callsPerRequest else { return nil }
        if let usual, let usually {
            let explained = zip(usual.ratios, columns).reduce(0) { $0 + $1.0 * $1.1.total }
            let isMore =
                best.ratio > FindingConstants.callsGrowth * usually && served >= 3
                && target.total >= 2 * explained + 20
            guard isMore else { return nil }
        } else {
            guard before - begin < Self.young, now - begin >= Self.young, served >= 10 else { return nil }
        }
        return CallRatio(
            made: calls.made, served: calls.served[best.index], perRequest: best.ratio, before: usually)
    }

    /// Returns the ratio of the time since the change: in a window with both sides of it, any endpoint may seem to make the calls.
    private func confirmed(_ ratio: CallRatio, _ calls: Calls, since start: Slot, _ rows: RowTable) -> CallRatio? {
        guard ratio.before != nil, start > begin else { return ratio }
        return self.ratio(calls, in: min(start + 3, now)..<now, before: start, rows)
    }

    /// Whether more calls are made for each served request than before: a cheap look that settles nearly all cases.
    private func isMore(_ made: Double, _ calls: Calls, _ from: Slot, _ rows: RowTable) -> Bool {
        guard from - begin >= Self.young else { return true }
        let madeBefore = calls.made.reduce(0) { $0 + rows[$1].failures.allRequests } - made
        guard madeBefore > 0 else { return true }
        let served = requests(calls.served, from..<now, rows)
        let servedBefore = calls.served.reduce(0) { $0 + rows[$1].failures.allRequests } - served
        return made >= FindingConstants.retriesGrowth * madeBefore / max(servedBefore, 1) * served
    }

    private func usualRatios(
        _ calls: Calls, before: Slot, _ rows: RowTable
    ) -> (ratios: [Double], served: [Double]) {
        let columns = calls.served.map { rows[$0].folded(begin..<before) }
        let served = columns.map(\.total)
        let ratios = LeastSquares.nonNegative(columns, rows.folded(calls.made, begin..<before))
        return (zip(ratios, served).map { $1 >= 3 ? $0 : 0 }, served)
    }

    /// Returns the endpoint that makes most of the calls, if the others do not explain them. Endpoints that are always served
    /// together cannot be distinguished; then it is the one that made the calls before.
    private func best(
        _ columns: [[Double]], _ target: [Double], _ usual: (ratios: [Double], served: [Double])?
    ) -> (index: Int, ratio: Double)? {
        let ratios = LeastSquares.nonNegative(columns, target)
        guard let best = columns.indices.max(by: { ratios[$0] * columns[$0].total < ratios[$1] * columns[$1].total })
        else { return nil }
        if LeastSquares.isNeeded(best, columns, target, ratios) { return (best, ratios[best]) }
        guard let usual, usual.ratios.contains(where: { $0 > 0 }),
            let asked = columns.indices.max(by: {
                usual.ratios[$0] * usual.served[$0] < usual.ratios[$1] * usual.served[$1]
            })
        else { return nil }
        let column = columns[asked]
        let ratio = LeastSquares.dot(column, target) / max(LeastSquares.dot(column, column), 1e-9)
        let isExplained = LeastSquares.rest([column], target, [ratio]) < 0.5 * LeastSquares.dot(target, target)
        return isExplained ? (asked, ratio) : nil
    }

    // MARK: Times

    private func isOver(_ ratio: CallRatio, _ calls: Calls, _ rows: RowTable) -> Bool {
        let range = max(begin, now - Self.lagOfEnd * FindingTime.slotsOfMinute)..<now
        let (all, mine) = (requests(calls.served, range, rows), requests([ratio.served], range, rows))
        let made = requests(calls.made, range, rows)
        return all >= 10 && mine >= 3 && made < 2 * all && made < 0.3 * ratio.perRequest * mine
    }

    /// Returns the slot from which the ratio is nearer to the new than to the old one.
    private func start(of ratio: CallRatio, _ rows: RowTable) -> Slot {
        let between = (ratio.perRequest * max(ratio.usual, 0.3)).squareRoot()
        var (sum, lowest, start) = (0.0, 0.0, begin)
        for slot in begin..<max(begin, now - 1) {
            let made = ratio.made.reduce(0) { $0 + rows[$1].requests(in: slot) }
            sum += made - between * rows[ratio.served].requests(in: slot)
            if sum <= lowest { (lowest, start) = (sum, slot + 1) }
        }
        return start
    }

    private func requests(_ indexes: [Int], _ range: Range<Slot>, _ rows: RowTable) -> Double {
        indexes.reduce(0) { $0 + rows[$1].requests(from: range) }
    }
}

/// The rows of a service's requests to one endpoint, and of those that it serves.
private struct Calls {
    let made: [Int]
    let served: [Int]
}

/// A served endpoint that makes many requests.
struct CallRatio {
    /// The rows of the requests.
    let made: [Int]
    /// The row of the served endpoint.
    let served: Int
    /// Requests for each that is served, and before; `nil` if there is no time before.
    var perRequest: Double
    let before: Double?

    /// The ratio before, or 1 if it is unknown.
    fileprivate var usual: Double {
        guard let before, before > 0 else { return 1 }
        return before
    }
}

extension FindingSubject {
    /// The same requests to any host.
    var withoutHost: FindingSubject {
        var subject = self
        subject.host = nil
        return subject
    }
}

extension RowSeries {
    /// The requests of a range that begins and ends with minutes.
    func requests(from range: Range<Slot>) -> Double {
        (FindingTime.minute(of: range.lowerBound)..<FindingTime.minute(after: range.upperBound)).reduce(0) {
            $0 + failures.requests(in: $1)
        }
    }
}
