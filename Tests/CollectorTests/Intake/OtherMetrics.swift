import MartletIntake
import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

/// Metrics in the form that SDKs other than Martlet's agent send.
enum OtherMetrics {
    /// Stores metrics as if one instance of a service had posted them.
    static func send(_ metrics: [OTLPMetric], instance: String, to storage: any Storage) async throws {
        let request = request(
            scopes: [metrics],
            resource: [OTLPKeyValue("service.name", "shop"), OTLPKeyValue("service.instance.id", instance)])
        try await send(request, to: storage)
    }

    static func send(_ request: OTLPExportMetricsServiceRequest, to storage: any Storage) async throws {
        let taken = try Intake().metrics(try request.serializedBytes(), encoding: .identity)
        #expect(taken.refusals.message == "")
        _ = try await storage.store(taken.values, of: nil)
    }

    static func request(
        scopes: [[OTLPMetric]], resource: [OTLPKeyValue] = [OTLPKeyValue("service.name", "shop")]
    ) -> OTLPExportMetricsServiceRequest {
        var part = OTLPResourceMetrics()
        part.resource.attributes = resource
        part.scopeMetrics = scopes.enumerated().map { index, metrics in
            var scope = OTLPScopeMetrics()
            scope.scope.name = "instrument \(index)"
            scope.metrics = metrics
            return scope
        }
        var request = OTLPExportMetricsServiceRequest()
        request.resourceMetrics = [part]
        return request
    }

    static func histogram(
        _ points: [OTLPHistogramDataPoint], name: String = MetricName.serverDuration, unit: String = "s",
        _ temporality: OTLPAggregationTemporality = .cumulative
    ) -> OTLPMetric {
        var metric = OTLPMetric()
        metric.name = name
        metric.unit = unit
        metric.histogram.aggregationTemporality = temporality
        metric.histogram.dataPoints = points
        return metric
    }

    /// Returns a point that counts `values` in buckets between `bounds`. Without bounds all values share one bucket.
    static func point(
        _ values: [Double], bounds: [Double] = [0.1, 0.5, 1], withRange: Bool = true,
        start: UInt64 = 0, end: UInt64 = 10, attributes: [OTLPKeyValue] = attributes
    ) -> OTLPHistogramDataPoint {
        var point = OTLPHistogramDataPoint()
        point.startTimeUnixNano = Samples.time(start)
        point.timeUnixNano = Samples.time(end)
        point.attributes = attributes
        point.count = UInt64(values.count)
        point.sum = values.reduce(0, +)
        point.explicitBounds = bounds
        point.bucketCounts = Array(repeating: 0, count: bounds.count + 1)
        for value in values { point.bucketCounts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1 }
        if withRange, let min = values.min(), let max = values.max() { (point.min, point.max) = (min, max) }
        return point
    }

    static let attributes = [
        OTLPKeyValue("http.request.method", "GET"), OTLPKeyValue("http.route", "/orders/{id}"),
        OTLPKeyValue("http.response.status_code", Int64(200)),
    ]
}
