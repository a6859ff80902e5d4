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
