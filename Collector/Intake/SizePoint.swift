import MartletOTLP
import MartletTelemetry

/// A metric of body sizes, and where its bytes go: seen from the service that reports it, a client's request is sent and a
/// server's is received.
struct SizeMetric {
    var kind: RequestKind
    var bytes: WritableKeyPath<RequestStatistics, UInt64>

    init?(name: String) {
        switch name {
        case MetricName.clientRequestSize: (kind, bytes) = (.client, \.bytesSent)
        case MetricName.clientResponseSize: (kind, bytes) = (.client, \.bytesReceived)
        case MetricName.serverRequestSize: (kind, bytes) = (.server, \.bytesReceived)
        case MetricName.serverResponseSize: (kind, bytes) = (.server, \.bytesSent)
        default: return nil
        }
    }
}

/// Of a distribution of sizes only the sum is kept.
struct SizePoint {
    /// Doubles count whole bytes exactly up to here.
    private static let maxBytes = 9_007_199_254_740_992.0

    var attributes: [OTLPKeyValue]
    var start: UnixNanoseconds
    var end: UnixNanoseconds
    var count: UInt64
    var sum: Double
    var isDelta: Bool

    /// `nil` when the sum is none that bytes can have.
    var bytes: UInt64? {
        (0...Self.maxBytes).contains(sum) ? UInt64(sum) : nil
    }

    static func all(in metric: OTLPMetric) -> [SizePoint] {
        switch metric.data {
        case .histogram(let histogram):
            histogram.dataPoints.map {
                SizePoint(
                    attributes: $0.attributes, start: $0.startTimeUnixNano, end: $0.timeUnixNano, count: $0.count,
                    sum: $0.sum,
                    isDelta: histogram.aggregationTemporality == .delta)
            }
        case .exponentialHistogram(let histogram):
            histogram.dataPoints.map {
                SizePoint(
                    attributes: $0.attributes, start: $0.startTimeUnixNano, end: $0.timeUnixNano, count: $0.count,
                    sum: $0.sum,
                    isDelta: histogram.aggregationTemporality == .delta)
            }
        default: []
        }
    }
}
