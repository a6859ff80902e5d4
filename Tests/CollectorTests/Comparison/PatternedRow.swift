import Fixtures

@testable import MartletReports

/// The counts of a row that varies: for seven minutes at a time it fails more, or less, and is slower, or faster. All counts come
/// from a seed, so that another program can make the same ones.
struct PatternedRow {
    private(set) var requests: [Double] = []
    /// In the order of ``RequestSignal``.
    private(set) var signals = [[Double]](repeating: [], count: 4)

    /// A change from some minute on, in requests per thousand: how many more fail, and how many more are slower than the p50 before.
    struct Change {
        var failing = 0
        var slower = 0
        var minutes = 0..<0
    }

    init(minutes: Int, _ change: Change = Change(), seed: UInt64 = 7) {
        var (random, state) = (SeededGenerator(seed: seed), 0)
        for minute in 0..<minutes {
            if minute.isMultiple(of: 7) { state = Int(random.next() % 5) }
            let isChanged = change.minutes.contains(minute)
            let failing = 8 + 4 * state + (isChanged ? change.failing : 0)
            let slower = 20 * state + (isChanged ? change.slower : 0)
            add(Int(20 + random.next() % 21), failing, slower, using: &random)
        }
    }

    private mutating func add(_ count: Int, _ failing: Int, _ slower: Int, using random: inout SeededGenerator) {
        // Of each property: how many requests per thousand have it. Shares round towards minus infinity.
        let slow = [480 + slower, 40 + slower >> 3, 8 + Int((Double(slower) / 40).rounded(.down))]
        var counts = [0.0, 0, 0, 0]
        for _ in 0..<count {
            let bits = random.next()
            if Int(bits % 1000) < failing { counts[0] += 1 }
            for (index, limit) in slow.enumerated() where Int((bits >> 32) % 1000) < limit { counts[index + 1] += 1 }
        }
        requests.append(Double(count))
        for index in signals.indices { signals[index].append(counts[index]) }
    }

    var history: RowHistory { RowHistory(slotMinutes: 1, first: 0, requests: requests, signals: signals) }

    /// Returns the window of the last minutes, compared with those before.
    ///
    /// - Parameter growth: the factor by which p50 and p95 grew, as far as the row's change is slower.
    func windows(
        _ length: Int, growth: Double = 1, hasPast: Bool = true, end: Int? = nil, noise: RowNoise? = nil
    ) -> ComparedWindows {
        let (history, end) = (history, end ?? requests.count)
        let past = noise ?? RowNoise(history, before: end - length, windowMinutes: length)
        return ComparedWindows(
            history, end: end, length: length, noise: hasPast ? past : nil,
            quantiles: [.p50: (100, 100 * growth), .p95: (300, 300 * growth), .p99: (500, 500)])
    }
}
