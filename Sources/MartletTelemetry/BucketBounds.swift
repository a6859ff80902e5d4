/// Upper bounds of the buckets that the values of many histograms are counted in, of the kind that Prometheus has. Where they
/// lie among the buckets of an ``ExponentialHistogram`` is worked out once.
package struct BucketBounds: Sendable, Equatable {
    /// Ascending; a value belongs to the first bucket whose bound is not below it.
    package let values: [Double]
    /// For each scale, of each bound: the last bucket whose middle is not above it.
    private let lastIndices: [[Int32]]

    package init(_ values: [Double]) {
        self.values = values
        lastIndices = ExponentialHistogram.scales.map { scale in
            values.map { ExponentialHistogram.lastIndex(notAbove: $0, scale) }
        }
    }

    /// Adds how many values lie between the bounds to `counts`, of which there is one more. A bucket's values count where its
    /// middle lies, kept within the smallest and the largest value; so at ``ExponentialHistogram/defaultScale`` only a value
    /// within 0.28 % of a bound can be counted on its other side, and one that is not is never.
    package func add(_ sketch: ExponentialHistogram, to counts: inout [UInt64]) {
        let lastIndices = lastIndices[Int(sketch.scale - ExponentialHistogram.scales.lowerBound)]
        let end = sketch.max.map(place) ?? values.count
        var current = Swift.min(sketch.min.map(place) ?? 0, end)
        if sketch.zeroCount > 0 { counts[place(of: 0)] &+= sketch.zeroCount }
        for (position, count) in sketch.buckets.enumerated() where count > 0 {
            let index = sketch.offset + Int32(position)
            while current < end, index > lastIndices[current] { current += 1 }
            counts[current] &+= count
        }
    }

    /// The first bucket whose bound is not below the value.
    package func place(of value: Double) -> Int {
        values.firstIndex { value <= $0 } ?? values.count
    }
}
