import MartletTelemetry

extension OTLPExponentialHistogramDataPoint {
    package init(_ histogram: ExponentialHistogram) {
        self.init()
        count = histogram.count
        sum = histogram.sum
        scale = histogram.scale
        zeroCount = histogram.zeroCount
        positive.offset = histogram.offset
        positive.bucketCounts = histogram.buckets
        if let min = histogram.min { self.min = min }
        if let max = histogram.max { self.max = max }
    }
}

extension ExponentialHistogram {
    /// `nil` if the point has negative values, is not a valid histogram, or has a count that differs from the sum of its
    /// buckets.
    init?(_ point: OTLPExponentialHistogramDataPoint) {
        guard point.negative.bucketCounts.isEmpty else { return nil }
        self.init(
            scale: point.scale, sum: point.sum, min: point.hasMin ? point.min : nil,
            max: point.hasMax ? point.max : nil, zeroCount: point.zeroCount, offset: point.positive.offset,
            buckets: point.positive.bucketCounts)
        guard count == point.count else { return nil }
    }
}
