import MartletStorage
import MartletTelemetry

/// The requests of a row in one window, counted by block and by duration. Blocks without requests are left out.
struct WindowCounts {
    /// Requests, by block.
    let requests: [Double]
    /// Failed requests, by block.
    let failures: [Double]
    /// Requests by block, and in it by bucket. The buckets of both windows are the same.
    let buckets: [[Double]]
    /// Requests by bucket.
    let totals: [Double]
    let blocks: [RequestGroup]

    init(_ blocks: [RequestGroup], in shared: SharedBuckets) {
        let blocks = blocks.filter { $0.count > 0 }
        requests = blocks.map { Double($0.count) }
        failures = blocks.map { Double($0.failedCount) }
        buckets = blocks.map(shared.counts)
        totals = shared.sums(of: buckets)
        self.blocks = blocks
    }

    /// All durations, in seconds.
    var durations: ExponentialHistogram { ExponentialHistogram(mergedFrom: blocks) }

    var failureShare: BlockMean { BlockMean(sums: failures, sizes: requests) }

    /// Returns the share of requests in buckets after the first `count`.
    func share(above count: Int) -> BlockMean {
        BlockMean(sums: buckets.map { $0.dropFirst(count).reduce(0, +) }, sizes: requests)
    }
}

/// The buckets that the durations of all blocks of a row have in common: those of the coarsest scale among them. The first is
/// for durations of zero.
struct SharedBuckets {
    private let scale: Int32
    /// The index of the first bucket after that for zero.
    private let offset: Int32
    let count: Int

    /// - Parameter groups: the blocks of both windows.
    init(of groups: [RequestGroup]) {
        var bounds = BucketBounds()
        for group in groups {
            bounds.lowerScale(to: group.unfailed.duration)
            bounds.lowerScale(to: group.failed.duration)
        }
        for group in groups {
            bounds.widen(to: group.unfailed.duration)
            bounds.widen(to: group.failed.duration)
        }
        (scale, offset, count) = (bounds.scale, bounds.first, bounds.count + 1)
    }

    func counts(of group: RequestGroup) -> [Double] {
        var counts = [Double](repeating: 0, count: count)
        for durations in [group.unfailed.duration, group.failed.duration] where durations.count > 0 {
            counts[0] += Double(durations.zeroCount)
            let (shift, first) = (durations.scale - scale, Int(offset) - 1)
            var index = Int(durations.offset)
            for bucket in durations.buckets {
                if bucket > 0 { counts[(index >> shift) - first] += Double(bucket) }
                index += 1
            }
        }
        return counts
    }

    func sums(of blocks: [[Double]]) -> [Double] {
        blocks.reduce(into: [Double](repeating: 0, count: count)) { sums, block in
            for index in sums.indices { sums[index] += block[index] }
        }
    }
}

/// The buckets that the sum of histograms has, found without adding them up.
private struct BucketBounds {
    private(set) var scale = ExponentialHistogram.scales.upperBound
    private(set) var first: Int32 = 0
    private(set) var count = 0

    mutating func lowerScale(to durations: ExponentialHistogram) {
        if durations.count > 0 { scale = min(scale, durations.scale) }
    }

    /// - Parameter durations: a histogram that ``lowerScale(to:)`` was called with.
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
            merge(group.unfailed.duration)
            merge(group.failed.duration)
        }
    }
}
