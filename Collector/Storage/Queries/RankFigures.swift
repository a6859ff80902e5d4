import MartletTelemetry

/// The figures of a group that decide its place in an order for which no distribution has to be known. A window has thousands of
/// groups and an answer the first of them, so the figures of all others are only these. A plain value of fixed size.
package struct RankFigures: Sendable, Equatable {
    private var unfailedCount: UInt64 = 0
    private var failedCount: UInt64 = 0
    private var unfailedTime: Double = 0
    private var failedTime: Double = 0
    /// Whether the group has neither requests nor body sizes.
    package private(set) var isEmpty = true

    /// Creates the figures of a group without requests.
    package init() {}

    package init(of group: RequestGroup) {
        let (unfailed, failed) = (group.unfailed.duration, group.failed.duration)
        (unfailedCount, unfailedTime) = (unfailed.count, unfailed.sum)
        (failedCount, failedTime) = (failed.count, failed.sum)
        isEmpty = group.isEmpty
    }

    private var count: UInt64 { unfailedCount &+ failedCount }

    /// The durations of unfailed requests, of which only count and sum are known.
    var unfailed: ExponentialHistogram { Self.durations(unfailedCount, unfailedTime) }
    /// The durations of failed requests, likewise.
    var failed: ExponentialHistogram { Self.durations(failedCount, failedTime) }

    private static func durations(_ count: UInt64, _ sum: Double) -> ExponentialHistogram {
        ExponentialHistogram([(0, count)], sum: sum, min: nil, max: nil)
    }

    /// Adds requests, or the body sizes of requests that were counted before.
    ///
    /// - Parameters:
    ///   - count: the number of requests.
    ///   - time: the time that they took, in seconds.
    package mutating func add(_ count: UInt64, time: Double, isFailure: Bool) {
        isEmpty = false
        if isFailure {
            failedCount &+= count
            failedTime += time
        } else {
            unfailedCount &+= count
            unfailedTime += time
        }
    }

    mutating func merge(_ other: RankFigures) {
        unfailedCount &+= other.unfailedCount
        failedCount &+= other.failedCount
        unfailedTime += other.unfailedTime
        failedTime += other.failedTime
        isEmpty = isEmpty && other.isEmpty
    }

    /// Returns the value of a measure; 0 for one of distributions.
    func value(of measure: GroupOrder.Measure) -> Double {
        switch measure {
        case .impact: unfailedTime + failedTime
        case .count: Double(count)
        case .failures: Double(failedCount)
        case .failureRate: count > 0 ? Double(failedCount) / Double(count) : 0
        case .p50, .p95, .p99, .max: 0
        }
    }
}
