import MartletOTLP

extension OTLPMetric {
    /// The number of values in the metric's delta histograms; 0 for any other metric.
    var valueCount: UInt64 {
        switch data {
        case .histogram(let histogram) where histogram.aggregationTemporality == .delta:
            histogram.dataPoints.reduce(0) { $0 &+ $1.count }
        case .exponentialHistogram(let histogram) where histogram.aggregationTemporality == .delta:
            histogram.dataPoints.reduce(0) { $0 &+ $1.count }
        default: 0
        }
    }
}
