import MartletTelemetry
import SwiftProtobuf

/// The number of points or spans that a collector refused, from the body of a 200 (OTLP specification, "OTLP/HTTP
/// Response", Partial Success).
package struct PartialSuccess: Sendable, Equatable {
    /// The number of rejected data points of metrics, or of rejected spans.
    package var rejected: UInt64
    /// The collector's reason; a warning if nothing was rejected.
    package var message: String

    package init(rejected: UInt64, message: String) {
        self.rejected = rejected
        self.message = message
    }

    /// `nil` for a full success, and for a body that is not an export response.
    package init?(inBody bytes: [UInt8], signal: Signal) {
        switch signal {
        case .metrics:
            guard let answer: OTLPExportMetricsServiceResponse = Self.decoded(bytes), answer.hasPartialSuccess
            else { return nil }
            self.init(
                rejected: UInt64(clamping: answer.partialSuccess.rejectedDataPoints),
                message: answer.partialSuccess.errorMessage)
        case .traces:
            guard let answer: OTLPExportTraceServiceResponse = Self.decoded(bytes), answer.hasPartialSuccess
            else { return nil }
            self.init(
                rejected: UInt64(clamping: answer.partialSuccess.rejectedSpans),
                message: answer.partialSuccess.errorMessage)
        }
        guard rejected > 0 || !message.isEmpty else { return nil }
    }

    /// Returns whether a body is an export response without unknown fields, in protobuf or in JSON. The text and the pages
    /// of other servers are none.
    package static func isExportResponse(_ bytes: [UInt8], signal: Signal) -> Bool {
        switch signal {
        case .metrics:
            guard let answer: OTLPExportMetricsServiceResponse = decoded(bytes) else { return false }
            return answer.unknownFields.data.isEmpty && answer.partialSuccess.unknownFields.data.isEmpty
        case .traces:
            guard let answer: OTLPExportTraceServiceResponse = decoded(bytes) else { return false }
            return answer.unknownFields.data.isEmpty && answer.partialSuccess.unknownFields.data.isEmpty
        }
    }

    /// JSON comes first, because some texts can be read as protobuf with unknown fields. JSON with unknown fields is not
    /// decoded.
    private static func decoded<Answer: SwiftProtobuf.Message>(_ bytes: [UInt8]) -> Answer? {
        (try? Answer(jsonUTF8Bytes: bytes)) ?? (try? Answer(serializedBytes: bytes))
    }

    /// Returns the number of data points of requests in a body of metrics; 0 if the body is not metrics.
    package static func dataPoints(inBody bytes: [UInt8]) -> UInt64 {
        guard let request = try? OTLPExportMetricsServiceRequest(serializedBytes: bytes) else { return 0 }
        let metrics = request.resourceMetrics.flatMap(\.scopeMetrics).flatMap(\.metrics)
        return metrics.filter { MetricName.isOfRequests($0.name) }.reduce(0) { $0 + UInt64($1.pointCount) }
    }
}

extension OTLPMetric {
    /// The number of the metric's points, reported to the sender if the metric is refused.
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

extension RPCStatus {
    /// Returns the sentence in the body of an OTLP/HTTP error; empty if the body is not a Status message.
    package static func message(inBody bytes: [UInt8]) -> String {
        (try? RPCStatus(serializedBytes: bytes).message) ?? ""
    }
}
