import MartletOTLP
import MartletTelemetry

/// A metric of body sizes, and the direction of the bytes: a client sends its request, a server receives it.
struct SizeMetric {
    var kind: RequestKind
    var measure: (UInt64) -> PointMeasure

    init?(name: String) {
        switch name {
        case MetricName.clientRequestSize: (kind, measure) = (.client, PointMeasure.bytesSent)
        case MetricName.clientResponseSize: (kind, measure) = (.client, PointMeasure.bytesReceived)
        case MetricName.serverRequestSize: (kind, measure) = (.server, PointMeasure.bytesReceived)
        case MetricName.serverResponseSize: (kind, measure) = (.server, PointMeasure.bytesSent)
        default: return nil
        }
    }
}
