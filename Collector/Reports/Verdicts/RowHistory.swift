/// The requests of one row in slots of time, up to the end of the compared window: how many there were, how many failed, and how many
/// took longer than the quantiles of the past.
package struct RowHistory: Sendable, Equatable {
    /// The length of a slot, in minutes.
    package let slotMinutes: Int
    /// The number of slots from 1970 to the first one. Slots before the row's first request are left out, because a row's life
    /// begins there.
    package let first: Int
    private let requests: RunningSums
    private let signals: [RunningSums]

    /// - Parameters:
    ///   - first: the number of slots from 1970 to the first one.
    ///   - requests: the requests of each slot.
    ///   - signals: the requests with each property, in the order of ``RequestSignal/allCases``.
    package init(slotMinutes: Int, first: Int, requests: [Double], signals: [[Double]]) {
        let empty = requests.firstIndex { $0 > 0 } ?? requests.count
        self.slotMinutes = max(slotMinutes, 1)
        self.first = first + empty
        self.requests = RunningSums(requests[empty...])
        self.signals = signals.map { RunningSums($0[empty...]) }
    }

    /// - Parameter slots: of each slot, the requests, and those with each property.
    init(slotMinutes: Int, first: Int, slots: [[Double]]) {
        self.init(
            slotMinutes: slotMinutes, first: first, requests: slots.map { $0[0] },
            signals: RequestSignal.allCases.map { signal in slots.map { $0[1 + signal.rawValue] } })
    }

    /// Returns the end of this history up to further slots, and these. If they are shorter, the requests of a slot are spread evenly.
    ///
    /// - Parameters:
    ///   - slots: of each slot, the requests, and those with each property.
    ///   - first: the number of slots of their length from 1970 to the first one.
    ///   - most: the most slots of their length that are taken from this history.
    func continued(with slots: [[Double]], first: Int, slotMinutes minutes: Int, taking most: Int) -> RowHistory {
        let parts = max(slotMinutes / minutes, 1)
        let end = min(max(first / parts - self.first, 0), count)
        let taken = (max(end - (most + parts - 1) / parts, 0)..<end).flatMap { index in
            let having = RequestSignal.allCases.map { counts($0, to: index + 1, slots: 1) }
            let slot = ([having[0].all] + having.map(\.having)).map { $0 / Double(parts) }
            return Array(repeating: slot, count: parts)
        }
        return RowHistory(slotMinutes: minutes, first: first - taken.count, slots: taken + slots)
    }

    /// The number of slots.
    package var count: Int { requests.count }

    /// Returns the requests of a number of slots that end at `end`, counted from the first slot. Slots outside of the history are
    /// empty.
    package func counts(_ signal: RequestSignal, to end: Int, slots: Int) -> SignalCounts {
        SignalCounts(
            signals[signal.rawValue].sum(to: end, slots: slots), of: requests.sum(to: end, slots: slots))
    }

    /// Returns groups of slots that end at `end`.
    ///
    /// - Parameter size: the slots of a group.
    func groups(_ signal: RequestSignal, to end: Int, slots: Int, by size: Int) -> [SignalCounts] {
        let count = slots / size
        return (0..<count).map { counts(signal, to: end - (count - 1 - $0) * size, slots: size) }
    }
}

/// Counts, each added to all those before.
private struct RunningSums: Sendable, Equatable {
    private let sums: [Double]

    init(_ counts: ArraySlice<Double>) {
        var sums = [0.0]
        sums.reserveCapacity(counts.count + 1)
        for count in counts { sums.append(sums[sums.count - 1] + count) }
        self.sums = sums
    }

    var count: Int { sums.count - 1 }

    func sum(to end: Int, slots: Int) -> Double { self[end] - self[end - slots] }

    private subscript(end: Int) -> Double { sums[min(max(end, 0), count)] }
}
