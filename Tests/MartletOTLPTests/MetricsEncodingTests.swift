import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import MartletOTLP

@Suite struct MetricsEncodingTests {
    /// Martlet's collector needs neither; other programs show them to people, or convert names by them.
    @Test func everyMetricHasADescriptionAndTheBatchItsSchemaAlsoAfterMerging() throws {
        var statistics = RequestStatistics()
        var phases = PhaseDurations()
        phases[.queue] = 5
        statistics.record(seconds: 1, bytesSent: 2, bytesReceived: 3, phases: phases)
        var series: [RequestDimensions: RequestStatistics] = [:]
        for kind in RequestKind.allCases {
            let dimensions = RequestDimensions(
                kind: kind, method: "GET", host: "h", port: 80, endpoint: "/", status: 200, error: nil)
            series[dimensions] = statistics
        }
        let batch = MetricsBatch(
            resource: TelemetryResource(service: "s", instance: "i"), start: 1, end: 2, series: series,
            ledger: Ledger(), unwatched: 1, agentCPU: 1)
        let merged = try #require(try MergedMetrics(batch.otlp()))
        for body in [try batch.otlp(), try merged.otlp(), try merged.otlp(.cumulative)] {
            let request = try OTLPExportMetricsServiceRequest(serializedBytes: body)
            let part = try #require(request.resourceMetrics.first)
            #expect(part.schemaURL == "https://opentelemetry.io/schemas/1.27.0")
            #expect(part.scopeMetrics.map(\.schemaURL) == [part.schemaURL])
            let metrics = part.scopeMetrics.flatMap(\.metrics)
            #expect(metrics.count == 10)
            #expect(metrics.allSatisfy { !$0.description_p.isEmpty })
        }
    }
}
