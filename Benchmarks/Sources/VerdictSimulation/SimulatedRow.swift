import Foundation

#if canImport(MartletReports)
import MartletReports
#endif

/// A row whose truth is known: for each minute its requests, its failures and its durations.
struct SimulatedRow {
    /// Buckets of 7 % from 0.2 ms on.
    static let (bucketCount, width, low) = (160, 0.07, log(0.2))

    private(set) var requests: [Double]
    private(set) var failures: [Double]
    /// For each minute and each bucket, the requests of all minutes and buckets before it.
    private var sums: [UInt32]

    var minutes: Int { requests.count }

    /// A change from one minute to another.
    struct Change {
        /// Factors of failures and of durations.
        var (failures, durations) = (1.0, 1.0)
        var minutes = 0..<0
    }

    /// Draws the requests of each minute.
    init(_ world: World, _ traffic: World.Traffic, _ change: Change, using random: inout RandomNumbers) {
        let count = traffic.rates.count
        requests = Array(repeating: 0, count: count)
        failures = requests
        sums = Array(repeating: 0, count: (count + 1) * (Self.bucketCount + 1))
        for minute in 0..<count {
            let isChanged = change.minutes.contains(minute)
            let share = min(traffic.failures[minute] * (isChanged ? change.failures : 1), 1)
            let middle = traffic.middles[minute] + (isChanged ? log(change.durations) : 0)
            for _ in 0..<random.poisson(traffic.rates[minute]) {
                let distance =
                    world == .pareto ? random.exponential() / 1.2 : world.requestDeviation * random.normal()
                add(minute, isFailed: random.uniform() < share, middle + distance)
            }
        }
        if world == .jobs { addJobs(change, using: &random) }
        addUp()
    }

    private static func place(_ minute: Int, _ bucket: Int) -> Int { minute * (bucketCount + 1) + bucket }

    private mutating func add(_ minute: Int, isFailed: Bool, _ duration: Double) {
        requests[minute] += 1
        if isFailed { failures[minute] += 1 }
        let bucket = min(max(Int((duration - Self.low) / Self.width), 0), Self.bucketCount - 1)
        sums[Self.place(minute + 1, bucket + 1)] += 1
    }

    /// Turns the counts of minutes and buckets into sums.
    private mutating func addUp() {
        for minute in 1...minutes {
            var ofMinute: UInt32 = 0
            for bucket in 1...Self.bucketCount {
                ofMinute += sums[Self.place(minute, bucket)]
                sums[Self.place(minute, bucket)] = ofMinute + sums[Self.place(minute - 1, bucket)]
            }
        }
    }

    /// Adds a job of 50 to 600 requests each five minutes, with a speed and a share of failures for each.
    private mutating func addJobs(_ change: Change, using random: inout RandomNumbers) {
        for block in 0..<minutes / 5 {
            let count = 50 + random.below(550)
            let (start, length) = (Double(block * 300) + random.uniform(0, 120), random.uniform(10, 70))
            let (middle, share) = (log(200) + 0.3 * random.normal(), random.jobShare())
            for _ in 0..<count {
                let minute = Int((start + random.uniform() * length) / 60)
                guard minute < minutes else { continue }
                let isChanged = change.minutes.contains(minute)
                add(
                    minute, isFailed: random.uniform() < share * (isChanged ? change.failures : 1),
                    middle + (isChanged ? log(change.durations) : 0) + 0.5 * random.normal())
            }
        }
    }

    // MARK: What the engine gets

    /// Returns the requests of some minutes in the buckets from one on.
    private func count(_ minutes: Range<Int>, from bucket: Int) -> Double {
        func before(_ bucket: Int) -> UInt32 {
            sums[Self.place(minutes.upperBound, bucket)] - sums[Self.place(minutes.lowerBound, bucket)]
        }
        return Double(before(Self.bucketCount) - before(bucket))
    }

    /// Returns the durations of some minutes, by bucket.
    func durations(_ minutes: Range<Int>) -> [Double] {
        (0..<Self.bucketCount).map { count(minutes, from: $0) - count(minutes, from: $0 + 1) }
    }

    /// Returns the history of some minutes. Slow requests are those above the quantiles of `reference`.
    func history(_ minutes: Range<Int>, reference: Range<Int>, slotMinutes: Int = 1) -> RowHistory {
        let durations = durations(reference)
        let bounds = RequestSignal.allCases.compactMap { $0.quantile.map { Self.bucket(of: $0, in: durations) + 1 } }
        var signals = [[Double]](repeating: [], count: RequestSignal.allCases.count)
        signals[0] = minutes.map { failures[$0] }
        for (index, bound) in bounds.enumerated() {
            signals[index + 1] = minutes.map { count($0..<$0 + 1, from: bound) }
        }
        func slots(_ values: [Double]) -> [Double] {
            stride(from: 0, to: values.count, by: slotMinutes).map {
                values[$0..<min($0 + slotMinutes, values.count)].reduce(0, +)
            }
        }
        return RowHistory(
            slotMinutes: slotMinutes, first: minutes.lowerBound / slotMinutes,
            requests: slots(minutes.map { requests[$0] }), signals: signals.map(slots))
    }

    typealias Quantiles = [RequestSignal: (before: Double, after: Double)]

    /// Returns the quantiles of two windows, in milliseconds.
    func quantiles(_ before: Range<Int>, _ after: Range<Int>) -> Quantiles {
        let (before, after) = (durations(before), durations(after))
        var quantiles: Quantiles = [:]
        for signal in RequestSignal.allCases {
            guard let share = signal.quantile else { continue }
            quantiles[signal] = (Self.quantile(share, of: before), Self.quantile(share, of: after))
        }
        return quantiles
    }

    private static func bucket(of share: Double, in counts: [Double]) -> Int {
        let rank = share * counts.reduce(0, +)
        var sum = 0.0
        for (index, count) in counts.enumerated() {
            sum += count
            if sum >= rank { return index }
        }
        return counts.count - 1
    }

    private static func quantile(_ share: Double, of counts: [Double]) -> Double {
        let bucket = bucket(of: share, in: counts)
        let below = counts[..<bucket].reduce(0, +)
        let part = (share * counts.reduce(0, +) - below) / max(counts[bucket], 1e-9)
        return exp(low + width * (Double(bucket) + min(max(part, 0), 1)))
    }
}
