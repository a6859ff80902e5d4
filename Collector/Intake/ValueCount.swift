import MartletOTLP

extension OTLPMetric {
    /// How many values its histograms were made of, as far as they count from point to point.
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
