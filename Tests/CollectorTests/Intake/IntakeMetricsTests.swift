import MartletIntake
import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

@Suite struct IntakeMetricsTests {
    private let batch = MetricsBatch(
        resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10),
        series: [
            Samples.dimensions(): Samples.statistics([0.1, 0.2, 3], sent: 100, received: 4096),
            Samples.dimensions(status: nil, error: "timeout"): Samples.statistics([5]),
            Samples.dimensions(.server, endpoint: "/orders"): Samples.statistics([0.01], sent: 7, received: 9),
        ],
        instanceStart: Samples.time(0) - 20_000_000_000,
        ledger: Ledger(captured: 10, delivered: 4, waiting: 5, dropped: [.bufferFull: 1]), captureGap: 1_500_000_000,
        agentCPU: 20_000_000)

    private func take(_ request: OTLPExportMetricsServiceRequest) throws -> IntakeResult<InstanceMetrics> {
        try Intake().metrics(try request.serializedBytes(), encoding: .identity)
    }

    /// Returns the agent's batch with one duration series, whose histograms `change` has changed.
    private func changed(
        _ change: (inout OTLPExponentialHistogram) -> Void
    ) throws -> OTLPExportMetricsServiceRequest {
        var batch = batch
        batch.series = [Samples.dimensions(): Samples.statistics([0.1, 0.2])]
        var request: OTLPExportMetricsServiceRequest = try .init(serializedBytes: batch.otlp())
        change(&request.resourceMetrics[0].scopeMetrics[0].metrics[0].exponentialHistogram)
        return request
    }

    @Test func agentBatchArrivesUnchanged() throws {
        let taken = try Intake().metrics(try Gzip.compress(try batch.otlp()), encoding: .gzip)
        let metrics = try #require(taken.values.first)
        #expect(taken.values.count == 1)
        #expect(taken.refusals.total == 0)
        #expect(metrics.resource == batch.resource)
        #expect(
            metrics.ledger
                == LedgerReading(
                    time: batch.end, captured: 10, delivered: 4, waiting: 5, dropped: ["buffer_full": 1],
                    age: 30_000_000_000, unwatched: 1_500_000_000, agentCPU: 20_000_000))
        #expect(metrics.points.allSatisfy { $0.start == batch.start && $0.end == batch.end })
        let series = Dictionary(uniqueKeysWithValues: metrics.points.map { ($0.dimensions, $0.statistics) })
        #expect(series == batch.series)
        #expect(metrics.requests == 5)
    }

    /// The agent's series differ in the version of HTTP and the scheme. The collector keeps neither, so that one endpoint
    /// has no more rows than before.
    @Test func pointsThatDifferOnlyInAttributesThatAreNotKeptBecomeOne() throws {
        var batch = batch
        batch.series = [:]
        for kind in RequestKind.allCases {
            for (number, version) in HTTPVersion.allCases.enumerated() {
                var dimensions = Samples.dimensions(kind)
                (dimensions.httpVersion, dimensions.isSecure) = (version, kind == .server && number % 2 == 0)
                batch.series[dimensions] = Samples.statistics([0.1, 0.2], sent: 100, received: 4096)
            }
        }
        let metrics = try #require(try Intake().metrics(try batch.otlp(), encoding: .identity).values.first)
        #expect(Set(metrics.points.map(\.dimensions)) == [Samples.dimensions(.client), Samples.dimensions(.server)])
        #expect(metrics.points.count == 2)
        let times = UInt64(HTTPVersion.allCases.count)
        for point in metrics.points {
            #expect(point.statistics.duration.count == 2 * times)
            #expect(point.statistics.bytesSent == 100 * times)
            #expect(point.statistics.bytesReceived == 4096 * times)
        }
    }

    @Test(arguments: [RequestDimensions.unmatched, RequestDimensions.other, "/orders/{id}"])
    func nameThatIsNoRouteIsTheEndpoint(name: String) throws {
        var batch = batch
        var dimensions = Samples.dimensions(.server, endpoint: name)
        dimensions.isRoute = false
        batch.series = [dimensions: Samples.statistics([0.1])]
        let point = try Intake().metrics(try batch.otlp(), encoding: .identity).values.first?.points.first
        #expect(point?.dimensions == Samples.dimensions(.server, endpoint: name))
    }

    @Test(arguments: [-1, .nan, .infinity, 1e300] as [Double])
    func impossibleAgentTimeIsMissingOrTheLongest(seconds: Double) throws {
        var request: OTLPExportMetricsServiceRequest = try .init(serializedBytes: batch.otlp())
        let last = request.resourceMetrics[0].scopeMetrics[0].metrics.count - 1
        request.resourceMetrics[0].scopeMetrics[0].metrics[last].sum.dataPoints[0].asDouble = seconds
        let ledger = try #require(try take(request).values.first?.ledger)
        #expect(ledger.agentCPU == (seconds > 0 ? UInt64(Int64.max / 2) + 1 : 0))
    }

    /// SQLite would end the name at the zero byte and keep nothing of it.
    @Test func nameWithAZeroByteStaysAName() throws {
        var batch = batch
        batch.series = [Samples.dimensions(status: nil, error: "\0boom"): Samples.statistics([0.1])]
        let point = try Intake().metrics(try batch.otlp(), encoding: .identity).values.first?.points.first
        #expect(point?.dimensions.error == "\u{FFFD}boom")
    }

    /// The intake remembers the bytes of a resource with their decoded value.
    @Test func changedResourceIsReadAgain() throws {
        let intake = Intake()
        for instance in ["i-1", "i-2", "i-1", "i-12"] {
            var batch = batch
            batch.resource = Samples.resource(instance: instance)
            let taken = try intake.metrics(try batch.otlp(), encoding: .identity)
            #expect(taken.values.map(\.resource) == [batch.resource])
        }
    }

    @Test(arguments: [(0, nil), (-1, nil), (2, 2)] as [(Int, Int?)])
    func senderWithoutRulesHasNoRuleCount(sent: Int, found: Int?) throws {
        var batch = batch
        batch.resource.rules = sent
        let taken = try Intake().metrics(try batch.otlp(), encoding: .identity)
        #expect(taken.values.map(\.resource.rules) == [found])
    }

    @Test func emptyBodyIsAnEmptyRequest() throws {
        let taken = try Intake().metrics([], encoding: .identity)
        #expect(taken.values.isEmpty)
        #expect(taken.refusals.total == 0)
    }

    @Test func ledgerWithoutRequestsIsTaken() throws {
        var idle = batch
        idle.series = [:]
        let taken = try Intake().metrics(try idle.otlp(), encoding: .identity)
        #expect(taken.values.map(\.ledger?.captured) == [10])
    }

    @Test func senderWithoutEndpointAndInstanceIsTaken() throws {
        var request = try changed { $0.dataPoints[0].attributes = [OTLPKeyValue("http.request.method", "PUT")] }
        request.resourceMetrics[0].resource = OTLPResource()
        let metrics = try #require(try take(request).values.first)
        #expect(metrics.resource.service == "unknown_service")
        #expect(
            metrics.points.map(\.dimensions) == [
                RequestDimensions(
                    kind: .client, method: "PUT", host: "", port: 0, endpoint: "{unknown}", status: nil, error: nil)
            ])
    }

    @Test func otherMetricsAreIgnoredAndCounted() throws {
        var request = try changed { _ in }
        request.resourceMetrics[0].scopeMetrics[0].metrics[0].name = "jvm.memory.used"
        var gauge = OTLPMetric()
        gauge.name = "process.cpu.utilization"
        gauge.gauge.dataPoints = [OTLPNumberDataPoint(), OTLPNumberDataPoint()]
        request.resourceMetrics[0].scopeMetrics[0].metrics.append(gauge)
        let taken = try take(request)
        #expect(taken.values.flatMap(\.points).isEmpty)
        #expect(taken.refusals.total == 0)
        #expect(taken.ignored == 3)
    }

    @Test func impossiblePointsAreRefusedAndTheOthersTaken() throws {
        let damages: [(inout OTLPExponentialHistogramDataPoint) -> Void] = [
            { $0.scale = 99 }, { $0.sum = .nan }, { $0.sum = -1 }, { $0.sum = 1e300 }, { $0.clearSum() },
            { $0.count = 7 }, { $0.positive.offset = .max }, { $0.positive.offset = .min },
            { $0.positive.bucketCounts = [.max, 1] }, { $0.positive.bucketCounts = Array(repeating: 0, count: 5000) },
            { $0.timeUnixNano = .max },
            { $0.attributes[1] = OTLPKeyValue("url.template", String(repeating: "x", count: 2000)) },
        ]
        for (index, damage) in damages.enumerated() {
            let taken = try take(
                try changed { histogram in
                    var point = histogram.dataPoints[0]
                    damage(&point)
                    histogram.dataPoints.append(point)
                })
            #expect(taken.refusals.total == 1, "damage \(index)")
            #expect(taken.values.map(\.requests) == [2], "damage \(index)")
        }
    }

    @Test func sizeNeedsNoDuration() throws {
        var request: OTLPExportMetricsServiceRequest = try .init(serializedBytes: batch.otlp())
        request.resourceMetrics[0].scopeMetrics[0].metrics.removeAll { $0.name == MetricName.serverDuration }
        let taken = try take(request)
        #expect(taken.refusals.total == 0)
        #expect(taken.values.map(\.requests) == [4])
        let server = taken.values.flatMap(\.points).first { $0.dimensions.kind == .server }?.statistics
        #expect(server == RequestStatistics(duration: ExponentialHistogram(), bytesSent: 7, bytesReceived: 9))
    }
}
