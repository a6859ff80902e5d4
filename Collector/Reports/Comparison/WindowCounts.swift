import MartletStorage
import MartletTelemetry

/// The requests of a row in one window, counted by block and by duration. Blocks without requests are left out.
struct WindowCounts {
    /// Requests, by block.
    let requests: [Double]
    /// Failed requests, by block.
    let failures: [Double]
    /// Requests by block and by bucket, without empty buckets. Both windows have the same buckets.
    let buckets: [[Bucket]]
    /// Requests by bucket.
    let totals: [Double]
    let blocks: [RequestGroup]

    /// A bucket with requests. Most blocks have requests in only a few of the row's hundreds of buckets.
    typealias Bucket = (index: Int, count: Double)

    init(_ blocks: [RequestGroup], in shared: SharedBuckets) {
        let blocks = blocks.filter { $0.count > 0 }
        requests = blocks.map { Double($0.count) }
        failures = blocks.map { Double($0.failedCount) }
        var totals = [Double](repeating: 0, count: shared.count)
        var counts = totals
        buckets = blocks.map { block in
            shared.add(block, to: &counts)
            return Self.takeBuckets(of: &counts, addingTo: &totals)
        }
        self.totals = totals
        self.blocks = blocks
    }

    /// Returns the buckets with requests, and clears the counts.
    private static func takeBuckets(of counts: inout [Double], addingTo totals: inout [Double]) -> [Bucket] {
        var buckets: [Bucket] = []
        for index in counts.indices where counts[index] > 0 {
            buckets.append((index, counts[index]))
            totals[index] += counts[index]
            counts[index] = 0
        }
        return buckets
    }

    /// All durations, in seconds.
    var durations: ExponentialHistogram { ExponentialHistogram(mergedFrom: blocks) }

    var failureShare: BlockMean { BlockMean(sums: failures, sizes: requests) }

    /// Returns the share of requests in buckets after the first `count`.
    func share(above count: Int) -> BlockMean {
        let sums = buckets.map { block in block.reduce(0) { $1.index >= count ? $0 + $1.count : $0 } }
        return BlockMean(sums: sums, sizes: requests)
    }
}

/// The buckets that the durations of all blocks of a row share: those of the finest scale among them. Coarser durations are spread
/// over them, like those of all blocks. The first bucket is for durations of zero.
struct SharedBuckets {
    /// The durations of all blocks; `nil` if all have one scale.
    private let all: ExponentialHistogram?
    private let scale: Int32
    /// The index of the first bucket after the one for zero.
    private let offset: Int32
    let count: Int

    /// - Parameter groups: the blocks of both windows.
    init(of groups: [RequestGroup]) {
        let known = Self.durations(of: groups, like: nil)
        let haveOneScale = known.allSatisfy { !$0.isMixed && $0.scale == known[0].scale }
        all = haveOneScale ? nil : ExponentialHistogram(mergedFrom: groups)
        var bounds = BucketBounds()
        let durations = Self.durations(of: groups, like: all)
        for one in durations { bounds.lowerScale(to: one) }
        for one in durations { bounds.widen(to: one) }
        (scale, offset, count) = (bounds.scale, bounds.first, bounds.count + 1)
    }

    /// Adds the requests of a group to an array with an element for each bucket.
    func add(_ group: RequestGroup, to counts: inout [Double]) {
        for durations in Self.durations(of: [group], like: all) {
            counts[0] += Double(durations.zeroCount)
            let (shift, first) = (durations.scale - scale, Int(offset) - 1)
            var index = Int(durations.offset)
            for bucket in durations.buckets {
                if bucket > 0 { counts[(index >> shift) - first] += Double(bucket) }
                index += 1
            }
        }
    }
}

extension SharedBuckets {
    private static func durations(
        of groups: [RequestGroup], like all: ExponentialHistogram?
    ) -> [ExponentialHistogram] {
        groups.flatMap { [$0.succeeded.duration, $0.failed.duration] }.filter { $0.count > 0 }
            .map { one in all.map { one.spread(like: $0) } ?? one }
    }
}

/// The buckets of a sum of histograms, computed without adding them up.
private struct BucketBounds {
    private(set) var scale = ExponentialHistogram.scales.upperBound
    private(set) var first: Int32 = 0
    private(set) var count = 0

    mutating func lowerScale(to durations: ExponentialHistogram) {
        if durations.count > 0 { scale = min(scale, durations.scale) }
    }

    /// - Parameter durations: a histogram that was already passed to ``lowerScale(to:)``.
    mutating func widen(to durations: ExponentialHistogram) {
        guard !durations.buckets.isEmpty else { return }
        let shift = durations.scale - scale
        var low = durations.offset >> shift
        var high = (durations.offset + Int32(durations.buckets.count) - 1) >> shift
        if count > 0 { (low, high) = (min(low, first), max(high, first + Int32(count) - 1)) }
        while Int64(high) - Int64(low) >= Int64(ExponentialHistogram.maxBuckets) {
            (low, high, scale) = (low >> 1, high >> 1, scale - 1)
        }
        (first, count) = (low, Int(high - low) + 1)
    }
}

extension ExponentialHistogram {
    /// Creates the histogram of the durations of all groups.
    init(mergedFrom groups: [RequestGroup]) {
        self.init()
        for group in groups {
            merge(group.succeeded.duration)
            merge(group.failed.duration)
        }
    }
}
