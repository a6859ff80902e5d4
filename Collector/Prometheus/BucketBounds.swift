import MartletTelemetry

/// Upper bounds of histogram buckets like those of Prometheus, into which the values of many histograms are counted. The
/// positions of the bounds among the buckets of an ``ExponentialHistogram`` are computed once.
package struct BucketBounds: Sendable, Equatable {
    /// The bounds, ascending. A value belongs to the first bucket whose bound is not below it.
    package let values: [Double]
    /// The last bucket whose middle is not above a bound: an array for each scale, an element for each bound.
    private let lastIndices: [[Int32]]

    package init(_ values: [Double]) {
        self.values = values
        lastIndices = ExponentialHistogram.scales.map { scale in
            values.map { ExponentialHistogram.lastIndex(notAbove: $0, scale) }
        }
    }

    /// Adds the number of values in each bucket to `counts`, which has one element more than the bounds.
    ///
    /// A bucket of the sketch counts at its middle, kept within the smallest and the largest value. At
    /// ``ExponentialHistogram/defaultScale``, only a value within 0.28 % of a bound can be counted on its other side.
    package func add(_ sketch: ExponentialHistogram, to counts: inout [UInt64]) {
        let lastIndices = lastIndices[Int(sketch.scale - ExponentialHistogram.scales.lowerBound)]
        let end = sketch.max.map(index) ?? values.count
        var current = Swift.min(sketch.min.map(index) ?? 0, end)
        if sketch.zeroCount > 0 { counts[index(of: 0)] &+= sketch.zeroCount }
        for (position, count) in sketch.buckets.enumerated() where count > 0 {
            let index = sketch.offset + Int32(position)
            while current < end, index > lastIndices[current] { current += 1 }
            counts[current] &+= count
        }
    }

    /// Returns the index of the first bound that is not below the value; the number of bounds if there is no such bound.
    package func index(of value: Double) -> Int {
        values.firstIndex { value <= $0 } ?? values.count
    }
}
