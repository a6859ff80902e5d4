import MartletIntake
import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

@Suite struct IntakeProcessTests {
    private static let time = Samples.time(10)

    private static func point(
        _ value: OTLPNumberDataPoint.OneOf_Value, _ attributes: [OTLPKeyValue] = [], start: UInt64? = 0
    ) -> OTLPNumberDataPoint {
        var point = OTLPNumberDataPoint()
        (point.value, point.attributes) = (value, attributes)
        point.startTimeUnixNano = start.map { Samples.time($0) } ?? 0
        point.timeUnixNano = time
        return point
    }

    private static func sum(
        _ name: String, _ points: [OTLPNumberDataPoint], _ temporality: OTLPAggregationTemporality = .cumulative
    ) -> OTLPMetric {
        var metric = OTLPMetric()
        metric.name = name
        metric.sum.aggregationTemporality = temporality
        metric.sum.dataPoints = points
        return metric
    }

    private static func gauge(_ name: String, _ points: [OTLPNumberDataPoint]) -> OTLPMetric {
        var metric = OTLPMetric()
        metric.name = name
        metric.gauge.dataPoints = points
        return metric
    }

    private func take(_ metrics: OTLPMetric...) throws -> IntakeResult<InstanceMetrics> {
        let request = OtherMetrics.request(scopes: [metrics])
        return try Intake().metrics(try request.serializedBytes(), encoding: .identity)
    }

    @Test func agentBatchHasTheFiguresOfItsProcess() throws {
        var process = ProcessStatistics()
        process.counts = Dictionary(
            uniqueKeysWithValues: ProcessCounter.allCases.map { ($0, 1000 + UInt64($0.rawValue)) })
        process.covered = 10_000_000_000
        for gauge in ProcessGauge.allCases { process.add(5_000_000_000 + UInt64(gauge.rawValue), of: gauge) }
        process.add(9_000_000_000, of: .poolDelay)
        let batch = MetricsBatch(
            resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10), series: [:],
            instanceStart: Samples.time(0), ledger: Ledger(), process: process)
        let taken = try Intake().metrics(batch.otlp(), encoding: .identity)
        let metrics = try #require(taken.values.first)
        #expect(metrics.process == [ProcessPoint(start: batch.start, end: batch.end, statistics: process)])
        #expect(metrics.processTotals.isEmpty)
        #expect(taken.refusals.total == 0)
    }

    @Test(arguments: ["cpu.mode", "process.cpu.state", "state", "type"])
    func cpuModesAreReadUnderTheNamesOfAllConventions(attribute: String) throws {
        let points = [("user", 2.5), ("system", 0.5), ("wait", 9)].map { mode, seconds in
            Self.point(.asDouble(seconds), [OTLPKeyValue(attribute, mode)])
        }
        let metrics = try #require(try take(Self.sum("process.cpu.time", points)).values.first)
        #expect(
            metrics.processTotals == [
                ProcessTotal(.cpuUser, start: Samples.time(0), end: Self.time, value: 2_500_000_000),
                ProcessTotal(.cpuSystem, start: Samples.time(0), end: Self.time, value: 500_000_000),
            ])
    }

    @Test func cpuTimeWithoutModesCounts() throws {
        let taken = try take(Self.sum("process.cpu.time", [Self.point(.asInt(3))], .delta))
        let point = try #require(taken.values.first?.process.first)
        #expect(point.statistics.counts == [.cpuUser: 3_000_000_000])
        #expect(point.statistics.covered == 10_000_000_000)
    }

    @Test(arguments: ["process.unix.file_descriptor.count", "process.open_file_descriptor.count"])
    func descriptorsAreReadUnderCurrentAndEarlierNames(name: String) throws {
        for metric in [Self.sum(name, [Self.point(.asInt(42))]), Self.gauge(name, [Self.point(.asDouble(42))])] {
            let point = try #require(try take(metric).values.first?.process.first)
            #expect(point.statistics.gauges == [.descriptors: .init(42)])
        }
    }

    @Test func increaseWithoutAStartHasNoLength() throws {
        let taken = try take(Self.sum("process.cpu.time", [Self.point(.asInt(3), start: nil)], .delta))
        let point = try #require(taken.values.first?.process.first)
        #expect(point.statistics.counts == [.cpuUser: 3_000_000_000])
        #expect(point.start == Self.time && point.statistics.covered == 0)
    }

    @Test func processesOfAHostAreNotServices() throws {
        let request = OtherMetrics.request(
            scopes: [[Self.gauge("process.thread.count", [Self.point(.asInt(7))])]],
            resource: [OTLPKeyValue("process.pid", 7), OTLPKeyValue("host.name", "web-1")])
        let taken = try Intake().metrics(try request.serializedBytes(), encoding: .identity)
        #expect(taken.values.isEmpty)
        #expect(taken.refusals.total == 0)
    }

    @Test func levelInPartsIsTheirSum() throws {
        let parts = [5, 2].map { Self.point(.asInt($0), [OTLPKeyValue("state", "\($0)")]) }
        let point = try #require(try take(Self.gauge("process.thread.count", parts)).values.first?.process.first)
        #expect(point.statistics.gauges == [.threads: .init(7)])
    }

    @Test func impossibleFiguresAreRefusedAndTheOthersTaken() throws {
        let bad: [OTLPNumberDataPoint.OneOf_Value] = [.asDouble(-1), .asDouble(.nan), .asDouble(.infinity), .asInt(-1)]
        var late = Self.point(.asInt(1))
        late.timeUnixNano = .max
        let taken = try take(
            Self.gauge("process.memory.usage", bad.map { Self.point($0) } + [late]),
            Self.gauge("process.thread.count", [Self.point(.asInt(7))]))
        #expect(taken.values.first?.process.count == 1)
        #expect(taken.refusals.total == 5)
        #expect(taken.refusals.message.contains("process"))
    }

    @Test func uninformativeFormsAreRefused() throws {
        let taken = try take(
            Self.gauge("process.cpu.time", [Self.point(.asInt(1))]),
            Self.sum("process.memory.usage", [Self.point(.asInt(1))], .delta),
            Self.sum("process.context_switches", [Self.point(.asInt(1))], .unspecified),
            OtherMetrics.histogram([OtherMetrics.point([0.2])], name: "martlet.process.pool.delay"))
        #expect(taken.values.isEmpty)
        #expect(taken.refusals.total == 4)
    }

    @Test func pointsOverTheLimitAreRefused() throws {
        let many = (0..<5000 as Range<UInt64>).map { number in
            var point = Self.point(.asInt(1))
            point.timeUnixNano = Samples.time(number)
            return point
        }
        let taken = try take(
            Self.gauge("process.thread.count", many), Self.gauge("process.memory.usage", [Self.point(.asInt(1))]))
        #expect(taken.values.first?.process.count == 1)
        #expect(taken.refusals.total == 5000)
    }
}
