import MartletTelemetry

/// The order of the groups in an answer: by a measure, and groups of equal rank by their values, so that the same figures
/// have the same order.
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

        /// Whether the measure is a quantile, for which the buckets of durations have to be known.
        package var isOfBuckets: Bool {
            switch self {
            case .impact, .count, .failures, .failureRate: false
            case .p50, .p95, .p99, .max: true
            }
        }
    }

    package var measure: Measure
    /// Whether the smallest comes first.
    package var ascending: Bool

    package init(_ measure: Measure = .impact, ascending: Bool = false) {
        self.measure = measure
        self.ascending = ascending
    }

    /// Returns the first groups in this order, at most `limit`; all of them if it is `nil`.
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
            return values(one).map { $0 ?? "" }.lexicographicallyPrecedes(values(other).map { $0 ?? "" })
        }
        return sorted.prefix(limit ?? sorted.count)
    }
}

extension RequestGroup {
    /// The time that the requests took, in seconds.
    package var time: Double { unfailed.duration.sum + failed.duration.sum }

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
