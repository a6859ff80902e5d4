import MartletTelemetry

/// Statistics added up by keys, in memory that grows with how much was added and not with how far apart its values lie: a
/// sketch has a place for each bucket between its values, so two of them can take 32 KiB.
package struct StatisticsSums<Key: Hashable> {
    /// Buckets of the sums for what is added, beside its own.
    private static var bucketsOfOne: Int { 64 }

    private var sums: [Key: RequestStatistics] = [:]
    /// What stands alone because the sums are large enough: a store takes several points of a series as well.
    private var others: [(key: Key, statistics: RequestStatistics)] = []
    private var buckets = 0
    /// Buckets that there may be: from the outset two of the largest sketches.
    private var room = 2 * ExponentialHistogram.maxBuckets

    package init() {}

    /// In no order; a key may be there more than once.
    package var all: [(key: Key, statistics: RequestStatistics)] {
        sums.map { (key: $0, statistics: $1) } + others
    }

    package mutating func add(_ statistics: RequestStatistics, to key: Key) {
        room += Self.bucketsOfOne + statistics.duration.buckets.count
        guard buckets <= room else { return others.append((key, statistics)) }
        buckets += Self.growth(of: &sums[key, default: RequestStatistics()], merging: statistics)
    }

    private static func growth(of sum: inout RequestStatistics, merging statistics: RequestStatistics) -> Int {
        let before = sum.duration.buckets.count
        sum.merge(statistics)
        return sum.duration.buckets.count - before
    }
}
