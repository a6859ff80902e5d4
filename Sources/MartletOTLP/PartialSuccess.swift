import MartletTelemetry
import SwiftProtobuf

/// What a 200 says of points or spans that were not taken (OTLP specification, "OTLP/HTTP Response", Partial Success).
package struct PartialSuccess: Sendable, Equatable {
    /// Data points of metrics, or spans.
    package var rejected: UInt64
    /// The collector's reason, or a warning where nothing was rejected.
    package var message: String

    package init(rejected: UInt64, message: String) {
        self.rejected = rejected
        self.message = message
    }

    /// `nil` for a full success, and for a body that is no such message.
    package init?(inBody bytes: [UInt8], signal: Signal) {
        switch signal {
        case .metrics:
            guard let answer = try? OTLPExportMetricsServiceResponse(serializedBytes: bytes), answer.hasPartialSuccess
            else { return nil }
            self.init(
                rejected: UInt64(clamping: answer.partialSuccess.rejectedDataPoints),
                message: answer.partialSuccess.errorMessage)
        case .traces:
            guard let answer = try? OTLPExportTraceServiceResponse(serializedBytes: bytes), answer.hasPartialSuccess
            else { return nil }
            self.init(
                rejected: UInt64(clamping: answer.partialSuccess.rejectedSpans),
                message: answer.partialSuccess.errorMessage)
        }
        guard rejected > 0 || !message.isEmpty else { return nil }
    }

    /// How many data points a body of metrics has that tell of requests; 0 for what is no such body.
    package static func dataPoints(inBody bytes: [UInt8]) -> UInt64 {
        guard let request = try? OTLPExportMetricsServiceRequest(serializedBytes: bytes) else { return 0 }
        let metrics = request.resourceMetrics.flatMap(\.scopeMetrics).flatMap(\.metrics)
        return metrics.filter { !MetricName.accounts.contains($0.name) }.reduce(0) { $0 + UInt64($1.pointCount) }
    }
}
