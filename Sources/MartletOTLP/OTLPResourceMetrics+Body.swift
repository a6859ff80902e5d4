import SwiftProtobuf

extension OTLPResourceMetrics {
    /// Reads the only resource of a body. `nil` unless the body has exactly one with one scope, as an agent sends them.
    init?(onlyOneIn body: [UInt8]) {
        guard let request = try? OTLPExportMetricsServiceRequest(serializedBytes: body),
            request.resourceMetrics.count == 1, request.resourceMetrics[0].scopeMetrics.count == 1
        else { return nil }
        self = request.resourceMetrics[0]
    }
}
