import Fixtures
import Foundation
import MartletStorage
import MartletTelemetry

/// The requests of one endpoint in an hour, as a service makes them: requests of one minute resemble each other, and so do
/// minutes that follow each other. Each minute has its own share of failures and its own typical duration.
struct SimulatedTraffic {
    var requestsPerMinute = 200.0
    /// The share of failed requests, 0...1.
    var failureShare = 0.01
    /// The standard deviation of the logarithm of the odds of a failure, between minutes.
    var failureSpread = 0.7
    /// The correlation of a minute with the one before.
    var autocorrelation = 0.0
    /// The factor by which all durations exceed those of 50 ms in the middle.
    var slowdown = 1.0
    /// The share of requests that take five times as long.
    var slowShare = 0.0
    /// Trouble within the hour: its minutes, the share of requests that fail because of it, and the factor by which it makes all longer.
    var trouble = (minutes: 0..<0, failureShare: 0.0, slowdown: 1.0)

    /// The standard deviation of the logarithm of durations: between minutes, and within one.
    private static let (minuteSpread, requestSpread) = (0.1, 0.5)
    private static let scale: Int32 = 5
    private static let bucketsForEachDoubling = 32.0
    private static let firstBucket: Int32 = -300
    private static let bucketCount = 400

    /// Durations of requests of one minute, as differences in buckets.
    private static let durations: [Double] = {
        var random = SeededGenerator(seed: 11)
        return (0..<0x10000).map { _ in random.normal() * requestSpread / log(2) * bucketsForEachDoubling }
    }()

    /// Returns an hour of requests in blocks of equal length.
    func blocks(_ count: Int = 10, using random: inout SeededGenerator) -> [RequestGroup] {
        let failures = minutes(spread: failureSpread, using: &random)
        let levels = minutes(spread: Self.minuteSpread, using: &random)
        let odds = log(failureShare / (1 - failureShare)) - failureSpread * failureSpread / 2
        return (0..<count).map { block in
            var counts = Counts()
            for minute in (60 / count * block)..<(60 / count * (block + 1)) {
                var share = failureShare > 0 ? 1 / (1 + exp(-odds - failures[minute])) : 0
                var level = log2(0.05 * slowdown) + levels[minute] / log(2)
                if trouble.minutes.contains(minute) {
                    share += (1 - share) * trouble.failureShare
                    level += log2(trouble.slowdown)
                }
                add(random.poisson(requestsPerMinute), failing: share, around: level, to: &counts, using: &random)
            }
            return counts.group
        }
    }

    private func add(
        _ requests: Int, failing share: Double, around level: Double, to counts: inout Counts,
        using random: inout SeededGenerator
    ) {
        let (middle, slow) = (level * Self.bucketsForEachDoubling, log2(5) * Self.bucketsForEachDoubling)
        let slowBelow = UInt64(slowShare * 0x10000)
        var (nextFailure, bits) = (random.gap(share) - 1, UInt64(0))
        for request in 0..<requests {
            bits = request.isMultiple(of: 2) ? random.next() : bits >> 32
            var position = middle + Self.durations[Int(bits & 0xffff)]
            if bits >> 16 & 0xffff < slowBelow { position += slow }
            let bucket = Int(position.rounded(.down)) - Int(Self.firstBucket)
            if request == nextFailure {
                counts.failed[bucket] += 1
                nextFailure += random.gap(share)
            } else {
                counts.succeeded[bucket] += 1
            }
        }
    }

    /// Returns a value for each minute, around 0.
    private func minutes(spread: Double, using random: inout SeededGenerator) -> [Double] {
        var value = random.normal() * spread
        return (0..<60).map { _ in
            defer {
                let fresh = (1 - autocorrelation * autocorrelation).squareRoot() * spread
                value = autocorrelation * value + random.normal() * fresh
            }
            return value
        }
    }

    private struct Counts {
        var succeeded = [UInt64](repeating: 0, count: bucketCount)
        var failed = [UInt64](repeating: 0, count: bucketCount)

        var group: RequestGroup {
            var group = RequestGroup(values: [])
            group.add(RequestClass(Samples.dimensions())) { $0.merge(Self.statistics(succeeded)) }
            group.add(RequestClass(Samples.dimensions(status: 503))) { $0.merge(Self.statistics(failed)) }
            return group
        }

        private static func statistics(_ buckets: [UInt64]) -> RequestStatistics {
            let duration = ExponentialHistogram(
                scale: scale, sum: 0, min: nil, max: nil, zeroCount: 0, offset: firstBucket, buckets: buckets)
            return RequestStatistics(duration: duration ?? ExponentialHistogram())
        }
    }
}

extension SeededGenerator {
    /// Returns a number above 0, and below or at 1.
    private mutating func uniform() -> Double { Double((next() >> 11) + 1) * 0x1p-53 }

    fileprivate mutating func normal() -> Double {
        (-2 * log(uniform())).squareRoot() * cos(2 * .pi * uniform())
    }

    fileprivate mutating func poisson(_ mean: Double) -> Int {
        // Of many, the number is nearly normal.
        if mean > 100 { return Int(max(0, mean + mean.squareRoot() * normal()).rounded()) }
        let end = exp(-mean)
        var (count, product) = (0, uniform())
        while product > end {
            product *= uniform()
            count += 1
        }
        return count
    }

    /// Returns the number of requests up to and with the next failure.
    fileprivate mutating func gap(_ share: Double) -> Int {
        share > 0 ? 1 + Int(min(log(uniform()) / log1p(-share), 1e9)) : .max / 2
    }
}
