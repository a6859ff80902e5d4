/// The mean of a value over the requests of a window, and how much it varies from block to block. The share of requests
/// with a property is the mean of 1 and 0.
struct BlockMean: Sendable, Equatable {
    /// The sum of the values in each block.
    let sums: [Double]
    /// The number of requests in each block. Where the variation is asked for, at least two blocks have requests.
    let sizes: [Double]
    let sum: Double
    let size: Double

    init(sums: [Double], sizes: [Double]) {
        self.sums = sums
        self.sizes = sizes
        sum = sums.reduce(0, +)
        size = sizes.reduce(0, +)
    }

    var mean: Double { sum / size }

    /// Returns the blocks outside a range, and those of it.
    func divided(at range: Range<Int>) -> (BlockMean, BlockMean) {
        func outside(_ values: [Double]) -> [Double] {
            Array(values[..<range.lowerBound] + values[range.upperBound...])
        }
        return (
            BlockMean(sums: outside(sums), sizes: outside(sizes)),
            BlockMean(sums: Array(sums[range]), sizes: Array(sizes[range]))
        )
    }

    /// Returns the blocks of both windows as those of one.
    func followed(by later: BlockMean) -> BlockMean {
        BlockMean(sums: sums + later.sums, sizes: sizes + later.sizes)
    }

    /// The variance of the mean, from the means that remain when each block is left out in turn (Cochran: "Sampling
    /// Techniques", 6.17, jackknife of a ratio). For blocks of equal size it is J/(J-1) Σ(sum - size·mean)²/N², and with one
    /// block far larger than the others it is not too small.
    var variance: Double {
        var squares = 0.0
        for (blockSum, blockSize) in zip(sums, sizes) {
            // The other blocks have a request at least, also where a count of 2^60 has swallowed it.
            let difference = (blockSum - blockSize * mean) / max(size - blockSize, 1)
            squares += difference * difference
        }
        return squares * (1 - 1 / Double(sizes.count))
    }

    /// The variance of a share, as a multiple of the variance that it had if requests did not depend on each other (Kish's
    /// design effect); 1 for a share of 0 or 1.
    var designEffect: Double {
        let independent = mean * (1 - mean) / size
        return independent > 0 ? variance / independent : 1
    }
}
