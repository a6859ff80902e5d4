import Fixtures
import HummingbirdTesting
import MartletIntake
import MartletOTLP
import MartletSQLiteStorage
import MartletServer
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Synchronization
import Testing

/// Small bodies whose values are as far apart as possible. A sketch of two such values has the maximum number of buckets, 32
/// KiB.
@Suite struct SketchMemoryTests {
    private static let values = [1e-9, 3e9]

    private static func attributes(_ pair: Int) -> [OTLPKeyValue] {
        [OTLPKeyValue("http.request.method", "GET"), OTLPKeyValue("http.route", "/\(pair)")]
    }

    private static func explicit(_ count: Int) throws -> [UInt8] {
        let points = (0..<count).map { pair in
            OtherMetrics.point(values, bounds: [1e-9, 1.5e9], withRange: false, attributes: attributes(pair))
        }
        return try OtherMetrics.request(scopes: [[OtherMetrics.histogram(points, .delta)]]).serializedBytes()
    }

    /// Returns histograms of one value each, two for each series and interval. The two differ in an attribute that is not a
    /// dimension, so they are separate streams.
    private static func pairs(_ count: Int, _ temporality: OTLPAggregationTemporality) throws -> [UInt8] {
        var metric = OTLPMetric()
        (metric.name, metric.unit) = (MetricName.serverDuration, "s")
        metric.exponentialHistogram.aggregationTemporality = temporality
        for pair in 0..<count {
            for value in values {
                var histogram = ExponentialHistogram()
                histogram.record(value)
                var point = OTLPExponentialHistogramDataPoint(histogram)
                (point.startTimeUnixNano, point.timeUnixNano) = (Samples.time(0), Samples.time(10))
                point.attributes = attributes(pair) + [OTLPKeyValue("worker", "\(value)")]
                metric.exponentialHistogram.dataPoints.append(point)
            }
        }
        return try OtherMetrics.request(scopes: [[metric]]).serializedBytes()
    }

    private static func buckets(of points: [RequestPoint]) -> Int {
        points.reduce(0) { $0 + $1.statistics.duration.buckets.count }
    }

    private static func requests(of points: [RequestPoint]) -> UInt64 {
        points.reduce(0) { $0 + $1.statistics.duration.count }
    }

    @Test(arguments: [true, false])
    func reservationOfABodyIncludesItsSketches(isExplicit: Bool) throws {
        var reserved = 0
        let body = try isExplicit ? Self.explicit(100) : Self.pairs(100, .delta)
        let taken = try Intake().metrics(body, encoding: .identity) { bytes in reserved = bytes }
        let points = taken.values.flatMap(\.points)
        #expect(Self.requests(of: points) == 200)
        let bytes = Self.buckets(of: points) * MemoryLayout<UInt64>.stride
        #expect(bytes > 1_500_000)
        // A difference of two sketches of the maximum size is allowed.
        #expect(reserved > bytes - 2 * 32 * 1024)
    }

    @Test func bodyWhoseSketchesExceedTheMemoryIsRefused() async throws {
        var limits = ServerLimits()
        limits.maxIngestBytes = 1_000_000
        let body = try Self.explicit(100)
        try await withServer(serverLimits: limits) { client in
            let refused = try await client.post(body)
            #expect(refused.status == .tooManyRequests)
            #expect(try await client.post(try Self.explicit(10)).status == .ok)
        }
    }

    @Test func sketchesThatGrowWhenMergedAreLimitedToo() throws {
        var limits = IntakeLimits()
        limits.maxSketchBuckets = 100_000
        let taken = try Intake(limits: limits).metrics(try Self.pairs(200, .delta), encoding: .identity)
        #expect(Self.buckets(of: taken.values.flatMap(\.points)) < 100_000 + ExponentialHistogram.maxBuckets)
        #expect(taken.refusals.total > 0)
        #expect(taken.refusals.requests + Self.requests(of: taken.values.flatMap(\.points)) == 400)
    }

    @Test func streamsTakeMemoryInProportionToTheirNumber() async throws {
        let stored = Stored()
        let folder = try TemporaryFolder()
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"), onStored: stored.add)
        let taken = try Intake().metrics(try Self.pairs(200, .cumulative), encoding: .identity)
        _ = try await storage.store(taken.values, of: nil)
        #expect(Self.requests(of: stored.all) == 400)
        #expect(Self.buckets(of: stored.all) < 100_000)
        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: [.endpoint]))
        #expect(answer.groups.count == 200)
        #expect(answer.groups.allSatisfy { $0.count == 2 })
    }

    @Test func spansTakeMemoryInProportionToTheirNumber() throws {
        var batch = DetailsBatch(resource: TelemetryResource(service: "prices", instance: "p-1"), details: [])
        for pair in 0..<200 {
            for nanoseconds in [1, Samples.time(0)] {
                var span = Samples.detail(1)
                span.request?.endpoint = "/\(pair)"
                (span.start, span.durationNanoseconds) = (Samples.time(5) - nanoseconds, nanoseconds)
                batch.details.append(span)
            }
        }
        #expect(Self.requests(of: batch.points()) == 400)
        #expect(Self.buckets(of: batch.points()) < 100_000)
    }
}

/// The points of which a store notifies its observer.
private final class Stored: Sendable {
    private let points = Mutex<[RequestPoint]>([])

    var all: [RequestPoint] { points.withLock { $0 } }

    func add(_ metrics: [InstanceMetrics], spans: Int) {
        points.withLock { $0 += metrics.flatMap(\.points) }
    }
}
