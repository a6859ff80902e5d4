import MartletTelemetry

/// Sums of statistics by keys. Their memory grows with the amount that was added, however far apart its values lie: a sketch
/// has every bucket between its smallest and its largest value, so a sketch of two values can take 32 KiB.
package struct StatisticsSums<Key: Hashable> {
    /// Buckets of the sums that one addition allows beside its own.
    private static var bucketsOfOne: Int { 64 }

    private var sums: [Key: RequestStatistics] = [:]
    /// Statistics that were not added because the sums are large enough: a store takes several points of a series as well.
    private var others: [(key: Key, statistics: RequestStatistics)] = []
    private var buckets = 0
    /// Buckets that the sums may have: at first those of two of the largest sketches.
    private var room = 2 * ExponentialHistogram.maxBuckets

    package init() {}

    /// The sums in no particular order; a key may occur more than once.
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
