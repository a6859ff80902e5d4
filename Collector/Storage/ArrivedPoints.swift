import MartletTelemetry

/// The delta points of a sender as they arrived, by identity: the metric, all attributes, the times and the figures. A sender that
/// does not number its batches may send them again, in other combinations. Intake adds points of one series and interval up, so
/// several of them can belong to one ``RequestPoint``. Pure.
package struct ArrivedPoints: Sendable, Equatable {
    package private(set) var identities: [UInt64] = []
    /// The index of the ``RequestPoint`` that each belongs to.
    private var points: [Int] = []
    /// The first that belongs to each ``RequestPoint``.
    private var firsts: [Int] = []
    /// The figures of those that share a ``RequestPoint`` with others.
    private var shares: [Int: RequestStatistics] = [:]
    /// The number of buckets in ``shares``.
    package private(set) var buckets = 0

    package init() {}

    package var isEmpty: Bool { identities.isEmpty }

    /// Adds a point before its figures are added to those of a ``RequestPoint``.
    ///
    /// - Parameters:
    ///   - index: the index of the ``RequestPoint``, at most one more than the largest before.
    ///   - sum: the figures of the ``RequestPoint`` so far.
    package mutating func add(
        _ identity: UInt64, _ statistics: @autoclosure () -> RequestStatistics, to index: Int, sum: RequestStatistics
    ) {
        if index == firsts.count {
            firsts.append(identities.count)
        } else {
            if shares[firsts[index]] == nil { share(sum, at: firsts[index]) }
            share(statistics(), at: identities.count)
        }
        identities.append(identity)
        points.append(index)
    }

    private mutating func share(_ statistics: RequestStatistics, at part: Int) {
        shares[part] = statistics
        buckets += statistics.duration.bucketCount
    }

    /// Bytes of memory, approximately.
    package var estimatedBytes: Int {
        shares.values.reduce(24 * identities.count) { $0 + $1.estimatedBytes }
    }

    /// Returns a point for each identity.
    ///
    /// - Parameter sums: the points in which they were added up.
    package func separated(_ sums: [RequestPoint]) -> [RequestPoint] {
        points.indices.map { part in
            var point = sums[points[part]]
            if let share = shares[part] { point.statistics = share }
            return point
        }
    }

    /// Returns the sums without the points that are known or occur twice, and the identities of the others by end.
    ///
    /// - Parameter sums: the points in which they were added up.
    package func new(
        in sums: [RequestPoint], known: Set<UInt64>
    ) -> (points: [RequestPoint], identities: [UnixNanoseconds: [UInt64]]) {
        var (known, identities) = (known, [UnixNanoseconds: [UInt64]]())
        let new = points.indices.filter { known.insert(self.identities[$0]).inserted }
        for part in new { identities[sums[points[part]].end, default: []].append(self.identities[part]) }
        guard new.count < points.count else { return (sums, identities) }
        var rest: [Int: RequestStatistics] = [:]
        for part in new {
            rest[points[part], default: RequestStatistics()].merge(shares[part] ?? sums[points[part]].statistics)
        }
        let left = sums.indices.compactMap { index in
            rest[index].map { statistics in
                var point = sums[index]
                point.statistics = statistics
                return point
            }
        }
        return (left, identities)
    }
}
