import MartletTelemetry

/// The order of the groups in an answer. Groups are ordered by a measure, and groups of equal rank by their values. So the same
/// figures always give the same order.
package struct GroupOrder: Sendable, Equatable {
    /// The measure that groups are ordered by. The raw value is the name on the command line and in a query.
    package enum Measure: String, Sendable, CaseIterable {
        /// The time that all requests took.
        case impact
        case count
        case failures
        case failureRate = "failure-rate"
        case p50
        case p95
        case p99
        case max

        /// Whether the measure is a quantile, which needs the buckets of the durations.
        package var needsBuckets: Bool {
            switch self {
            case .impact, .count, .failures, .failureRate: false
            case .p50, .p95, .p99, .max: true
            }
        }
    }

    package var measure: Measure
    /// Whether the smallest value comes first.
    package var ascending: Bool

    package init(_ measure: Measure = .impact, ascending: Bool = false) {
        self.measure = measure
        self.ascending = ascending
    }

    /// Returns the first groups in this order, at most `limit`; all groups if `limit` is `nil`.
    package func first(_ limit: Int?, of groups: [RequestGroup]) -> [RequestGroup] {
        first(limit, of: groups.map { $0.rank(by: measure) }) { groups[$0].values }.map { groups[$0] }
    }

    /// Returns the indexes of the first groups in this order.
    ///
    /// - Parameters:
    ///   - ranks: the value of the measure for each group.
    ///   - values: returns the values of the group at an index.
    func first(_ limit: Int?, of ranks: [Double], values: (Int) -> [String?]) -> ArraySlice<Int> {
        // The sort moves indexes, which is cheaper than moving groups.
        let sorted = ranks.indices.sorted { one, other in
            guard ranks[one] == ranks[other] else {
                return ascending ? ranks[one] < ranks[other] : ranks[one] > ranks[other]
            }
            return values(one).lexicographicallyPrecedes(values(other)) { ($0 ?? "") < ($1 ?? "") }
        }
        return sorted.prefix(limit ?? sorted.count)
    }
}

extension RequestGroup {
    /// The time that the requests took, in seconds.
    package var time: Double { succeeded.duration.sum + failed.duration.sum }

    fileprivate func rank(by measure: GroupOrder.Measure) -> Double {
        switch measure {
        case .impact, .count, .failures, .failureRate: RankFigures(of: self).value(of: measure)
        case .p50: quantile(0.5)
        case .p95: quantile(0.95)
        case .p99: quantile(0.99)
        case .max: quantile(1)
        }
    }

    private func quantile(_ share: Double) -> Double { quantiles([share])[0] ?? 0 }
}

/// The figures that rank a group by a measure that needs no distribution. A window may have thousands of groups, of which the
/// answer has only the first few. The others need only these figures. A plain value of fixed size.
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
        let (succeeded, failed) = (group.succeeded.duration, group.failed.duration)
        (unfailedCount, unfailedTime) = (succeeded.count, succeeded.sum)
        (failedCount, failedTime) = (failed.count, failed.sum)
        isEmpty = group.isEmpty
    }

    private var count: UInt64 { unfailedCount &+ failedCount }

    /// The durations of requests that did not fail. Only count and sum are known.
    var succeeded: ExponentialHistogram { Self.durations(unfailedCount, unfailedTime) }
    /// The durations of failed requests. Only count and sum are known.
    var failed: ExponentialHistogram { Self.durations(failedCount, failedTime) }

    private static func durations(_ count: UInt64, _ sum: Double) -> ExponentialHistogram {
        ExponentialHistogram([(0, count)], sum: sum, min: nil, max: nil)
    }

    /// Adds requests, or the body sizes of requests that have already been counted.
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

    /// Returns the value of a measure; 0 for a measure that needs a distribution.
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
