extension OTLPMetric {
    /// The number of the metric's points, which a sender is told if the metric is not taken.
    package var pointCount: Int {
        switch data {
        case .gauge(let gauge): gauge.dataPoints.count
        case .sum(let sum): sum.dataPoints.count
        case .histogram(let histogram): histogram.dataPoints.count
        case .exponentialHistogram(let histogram): histogram.dataPoints.count
        case .summary(let summary): summary.dataPoints.count
        case nil: 0
        }
    }
}
