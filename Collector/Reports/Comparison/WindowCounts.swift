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
    /// All durations, in seconds.
    let durations: ExponentialHistogram

    init(_ blocks: [RequestGroup], in shared: SharedBuckets) {
        let blocks = blocks.filter { $0.count > 0 }
        requests = blocks.map { Double($0.count) }
        failures = blocks.map { Double($0.failed.requests) }
        buckets = blocks.map(shared.counts)
        totals = shared.sums(of: buckets)
        durations = ExponentialHistogram(mergedFrom: blocks)
    }

    var failureShare: BlockMean { BlockMean(sums: failures, sizes: requests) }

    /// Returns the share of requests in buckets after the first `count`.
    func share(above count: Int) -> BlockMean {
        BlockMean(sums: buckets.map { $0.dropFirst(count).reduce(0, +) }, sizes: requests)
    }
}

/// The buckets that the durations of all blocks of a row have in common: those of the coarsest scale among them. The first is
/// for durations of zero.
struct SharedBuckets {
    private let all: ExponentialHistogram
    let count: Int

    /// - Parameter all: the durations of all blocks.
    init(_ all: ExponentialHistogram) {
        self.all = all
        count = all.buckets.count + 1
    }

    func counts(of group: RequestGroup) -> [Double] {
        var counts = [Double](repeating: 0, count: count)
        for durations in [group.unfailed.duration, group.failed.duration] where durations.count > 0 {
            counts[0] += Double(durations.zeroCount)
            let shift = durations.scale - all.scale
            for (index, bucket) in durations.buckets.enumerated() where bucket > 0 {
                counts[Int(((durations.offset + Int32(index)) >> shift) - all.offset) + 1] += Double(bucket)
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
