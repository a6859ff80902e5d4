import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import MartletOTLP

@Suite struct MetricsEncodingTests {
    /// Martlet's collector needs neither. Other programs show them to people, or convert names with them.
    @Test func metricsHaveDescriptionsAndBatchesASchemaEvenAfterMerging() throws {
        var statistics = RequestStatistics()
        var phases = PhaseDurations()
        phases[.queue] = 5
        statistics.record(seconds: 1, bytesSent: 2, bytesReceived: 3, phases: phases)
        var sizes = BodySizes()
        sizes.record(sent: 2, received: 3)
        var series: [RequestDimensions: RequestStatistics] = [:]
        for kind in RequestKind.allCases {
            let dimensions = RequestDimensions(
                kind: kind, method: "GET", host: "h", port: 80, endpoint: "/", status: 200, error: nil)
            series[dimensions] = statistics
        }
        let batch = MetricsBatch(
            resource: TelemetryResource(service: "s", instance: "i"), start: 1, end: 2, series: series,
            sizes: series.mapValues { _ in sizes }, ledger: Ledger(), captureGap: 1, agentCPU: 1)
        let merged = try #require(try MergedMetrics(batch.otlp()))
        for body in [try batch.otlp(), try merged.otlp(), try merged.otlp(.cumulative)] {
            let request = try OTLPExportMetricsServiceRequest(serializedBytes: body)
            let part = try #require(request.resourceMetrics.first)
            #expect(part.schemaURL == "https://opentelemetry.io/schemas/1.39.0")
            #expect(part.scopeMetrics.map(\.schemaURL) == [part.schemaURL])
            let metrics = part.scopeMetrics.flatMap(\.metrics)
            #expect(metrics.count == 10)
            #expect(metrics.allSatisfy { !$0.description_p.isEmpty })
        }
    }

    /// Returns the attributes of each metric's points of one request, as texts.
    private func attributes(_ change: (inout RequestDimensions) -> Void) throws -> [[String: String]] {
        var dimensions = RequestDimensions(
            kind: .server, method: "GET", host: "h", port: 80, endpoint: "/orders", status: 200, error: nil)
        change(&dimensions)
        var statistics = RequestStatistics()
        statistics.record(seconds: 1, bytesSent: 2, bytesReceived: 3, phases: PhaseDurations())
        let batch = MetricsBatch(
            resource: TelemetryResource(service: "s", instance: "i"), start: 1, end: 2,
            series: [dimensions: statistics],
            sizes: [:], ledger: Ledger())
        let metrics = try OTLPExportMetricsServiceRequest(serializedBytes: batch.otlp()).resourceMetrics
            .flatMap(\.scopeMetrics).flatMap(\.metrics).filter { $0.name.hasPrefix("http.") }
        let points = metrics.flatMap {
            $0.exponentialHistogram.dataPoints.map(\.attributes) + $0.histogram.dataPoints.map(\.attributes)
        }
        #expect(points.count == 3)
        return points.map { $0.reduce(into: [:]) { $0[$1.key] = $1.value.stringValue } }
    }

    /// Semantic conventions, "HTTP Metrics": a server must give the scheme. All metrics of a series have the same
    /// attributes, because a receiver takes two points of one metric with equal attributes for an error.
    @Test(arguments: HTTPVersion.allCases) func pointsHaveTheSchemeAndTheVersionOfHTTP(version: HTTPVersion) throws {
        #expect(HTTPVersion(version.text) == version)
        for isSecure in [false, true] {
            let found = try attributes { ($0.isSecure, $0.httpVersion) = (isSecure, version) }
            #expect(found.allSatisfy { $0["url.scheme"] == (isSecure ? "https" : "http") })
            #expect(found.allSatisfy { $0["network.protocol.version"] == version.text })
        }
        let client = try attributes { $0.kind = .client }
        #expect(client.allSatisfy { $0["url.scheme"] == nil && $0["network.protocol.version"] == nil })
    }

    /// Returns the attributes of the only duration, as texts, with the name of its metric.
    private func duration(_ dimensions: RequestDimensions) throws -> (name: String, attributes: [String: String]) {
        var statistics = RequestStatistics()
        statistics.record(seconds: 1, bytesSent: 0, bytesReceived: 0, phases: PhaseDurations())
        let batch = MetricsBatch(
            resource: TelemetryResource(service: "s", instance: "i"), start: 1, end: 2,
            series: [dimensions: statistics], sizes: [:], ledger: Ledger())
        let merged = try #require(try MergedMetrics(batch.otlp()))
        let metrics = try OTLPExportMetricsServiceRequest(serializedBytes: merged.otlp()).resourceMetrics
            .flatMap(\.scopeMetrics).flatMap(\.metrics).filter { MetricName.durations.contains($0.name) }
        let metric = try #require(metrics.first)
        #expect(metrics.count == 1 && metric.unit == "s" && !metric.description_p.isEmpty)
        let point = try #require(metric.exponentialHistogram.dataPoints.first)
        return (
            metric.name,
            point.attributes.reduce(into: [:]) {
                $0[$1.key] = $1.value.stringValue.isEmpty ? "\($1.value.intValue)" : $1.value.stringValue
            }
        )
    }

    /// Semantic conventions, "Database Metrics", "Messaging Metrics", "RPC".
    @Test func callsHaveTheNamesOfTheirConventions() throws {
        var dimensions = RequestDimensions(
            kind: .client, method: "SELECT", host: "db", port: 5432, endpoint: "SELECT users", status: nil,
            error: "57014")
        let server = ["server.address": "db", "server.port": "5432", "error.type": "57014"]
        (dimensions.system, dimensions.conventions) = ("postgresql", .database)
        let database = try duration(dimensions)
        #expect(database.name == "db.client.operation.duration")
        #expect(
            database.attributes
                == server.merging([
                    "db.system.name": "postgresql", "db.operation.name": "SELECT", "db.query.summary": "SELECT users",
                ]) { $1 })
        (dimensions.system, dimensions.conventions) = ("kafka", .messaging)
        let messaging = try duration(dimensions)
        #expect(messaging.name == "messaging.client.operation.duration")
        #expect(
            messaging.attributes
                == server.merging([
                    "messaging.system": "kafka", "messaging.operation.name": "SELECT",
                    "messaging.destination.name": "SELECT users",
                ]) { $1 })
        (dimensions.system, dimensions.conventions) = ("grpc", .rpc)
        let call = try duration(dimensions)
        #expect(call.name == "http.client.request.duration")
        #expect(call.attributes["rpc.system.name"] == "grpc" && call.attributes["url.template"] == "SELECT users")
    }

    /// Semantic conventions, "HTTP Metrics": `http.route` must be the framework's, and a path cannot replace it.
    @Test(
        arguments: [
            (true, "/orders", "http.route"), (false, "/orders", "martlet.endpoint"),
            (true, RequestDimensions.unmatched, "martlet.endpoint"),
            (true, RequestDimensions.other, "martlet.endpoint"),
        ])
    func routeIsOnlyTheFrameworks(isRoute: Bool, endpoint: String, name: String) throws {
        let found = try attributes { ($0.isRoute, $0.endpoint) = (isRoute, endpoint) }
        #expect(found.allSatisfy { $0[name] == endpoint })
        #expect(found.allSatisfy { ($0["http.route"] != nil) == (name == "http.route") })
    }

    @Test func sizesAreDistributionsAndRequestsAreCountedByDurations() throws {
        var (statistics, sizes) = (RequestStatistics(), BodySizes())
        for bytes in [0, 100, 100, 5000] as [UInt64] {
            statistics.record(seconds: 1, bytesSent: bytes, bytesReceived: 0)
            sizes.record(sent: bytes, received: 0)
        }
        let series = ["/a", "/b"].map { endpoint in
            RequestDimensions(
                kind: .client, method: "GET", host: "h", port: 80, endpoint: endpoint, status: 200, error: nil)
        }
        let batch = MetricsBatch(
            resource: TelemetryResource(service: "s", instance: "i"), start: 1, end: 2,
            series: Dictionary(uniqueKeysWithValues: series.map { ($0, statistics) }),
            sizes: Dictionary(uniqueKeysWithValues: series.map { ($0, sizes) }), ledger: Ledger())
        var merged = try #require(try MergedMetrics(batch.otlp()))
        let isAdded = try merged.add(batch.otlp())
        #expect(isAdded)
        for (body, times) in [(try batch.otlp(), 1), (try merged.otlp(), 2)] as [([UInt8], UInt64)] {
            let metrics = try OTLPExportMetricsServiceRequest(serializedBytes: body).resourceMetrics
                .flatMap(\.scopeMetrics).flatMap(\.metrics)
            #expect(!metrics.contains { $0.name == MetricName.clientResponseSize })
            let points = metrics.filter { $0.name == MetricName.clientRequestSize }
                .flatMap(\.exponentialHistogram.dataPoints)
            #expect(points.count == 2)
            for point in points {
                #expect(point.count == 4 * times)
                #expect(point.zeroCount == times)
                #expect(point.sum == 5200 * Double(times))
                #expect(point.max == 5000)
                #expect(point.positive.bucketCounts.filter { $0 > 0 }.sorted() == [times, 2 * times])
            }
            let halves = try #require(BodyHalves(body, signal: .metrics))
            #expect(halves.first.requests == 4 * times)
            #expect(halves.second.requests == 4 * times)
        }
    }
}
