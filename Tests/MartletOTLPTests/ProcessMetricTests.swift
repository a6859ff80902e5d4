import Fixtures
import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import MartletOTLP

@Suite struct ProcessMetricTests {
    /// A batch with the figures of a process that took 1.5 s of CPU time.
    static func batch(_ sample: inout SampleBatch) -> MetricsBatch {
        var batch = sample.next()
        batch.process.counts = [.cpuUser: 1_000_000_000, .cpuSystem: 500_000_000, .voluntarySwitches: 12]
        batch.process.covered = 10_000_000_000
        batch.process.add(84 << 20, of: .residentMemory)
        batch.process.add(33, of: .descriptors)
        batch.process.add(90_000_000_000, of: .uptime)
        batch.process.add(2_000_000, of: .poolDelay)
        batch.process.add(6_000_000, of: .poolDelay)
        return batch
    }

    private func metrics(_ body: [UInt8]) throws -> [String: OTLPMetric] {
        let request = try OTLPExportMetricsServiceRequest(serializedBytes: body)
        return Dictionary(uniqueKeysWithValues: request.metrics.map { ($0.name, $0) })
    }

    @Test func metricsMatchTheSemanticConventions() throws {
        var sample = SampleBatch(seed: 1)
        var batch = Self.batch(&sample)
        batch.instanceStart = batch.start - 1000
        let metrics = try metrics(batch.otlp())
        let cpu = try #require(metrics["process.cpu.time"])
        #expect(cpu.unit == "s" && cpu.sum.isMonotonic && cpu.sum.aggregationTemporality == .delta)
        #expect(cpu.sum.dataPoints.map(\.asDouble) == [1, 0.5])
        #expect(
            cpu.sum.dataPoints.map { $0.attributes.map { "\($0.key)=\($0.value.stringValue)" } } == [
                ["cpu.mode=user"], ["cpu.mode=system"],
            ])
        #expect(cpu.sum.dataPoints.allSatisfy { $0.startTimeUnixNano == batch.start && $0.timeUnixNano == batch.end })
        let memory = try #require(metrics["process.memory.usage"])
        #expect(memory.unit == "By" && !memory.sum.isMonotonic && memory.sum.aggregationTemporality == .cumulative)
        #expect(memory.sum.dataPoints.map(\.asInt) == [84 << 20])
        #expect(metrics["process.unix.file_descriptor.count"]?.sum.dataPoints.map(\.asInt) == [33])
        #expect(metrics["process.uptime"]?.gauge.dataPoints.map(\.asDouble) == [90])
        #expect(memory.sum.dataPoints.map(\.startTimeUnixNano) == [batch.instanceStart])
        #expect(metrics["process.uptime"]?.gauge.dataPoints.map(\.startTimeUnixNano) == [0])
        let delay = try #require(metrics["martlet.process.pool.delay"]?.histogram.dataPoints.first)
        #expect(delay.count == 2 && delay.sum == 0.008 && delay.max == 0.006)
        #expect(metrics["process.thread.count"] == nil)
        #expect(metrics["process.paging.faults"] == nil)
    }

    @Test func mergedBatchesHaveTheSumOfCountersAndTheLatestLevels() throws {
        var sample = SampleBatch(seed: 2)
        let first = Self.batch(&sample)
        var second = Self.batch(&sample)
        second.process.gauges[.residentMemory] = .init(90 << 20)
        second.process.add(40_000_000, of: .poolDelay)
        var merged = try #require(MergedMetrics(first.otlp()))
        let isAdded = try merged.add(second.otlp())
        #expect(isAdded)
        let metrics = try metrics(merged.otlp())
        let cpu = try #require(metrics["process.cpu.time"]?.sum.dataPoints)
        #expect(cpu.map(\.asDouble).sorted() == [1, 2])
        #expect(cpu.allSatisfy { $0.startTimeUnixNano == first.start && $0.timeUnixNano == second.end })
        #expect(metrics["process.context_switches"]?.sum.dataPoints.map(\.asInt) == [24])
        #expect(metrics["process.memory.usage"]?.sum.dataPoints.map(\.asInt) == [90 << 20])
        let delay = try #require(metrics["martlet.process.pool.delay"]?.histogram.dataPoints.first)
        #expect(delay.count == 5 && delay.max == 0.04)
    }

    @Test func onlyOneHalfOfABatchHasTheProcessMetrics() throws {
        var sample = SampleBatch(seed: 3)
        let halves = try #require(BodyHalves(Self.batch(&sample).otlp(), signal: .metrics))
        let names = try [halves.first, halves.second].map {
            try metrics($0.body).keys.filter { $0.contains("process") }
        }
        #expect(names[0].count == 6)
        #expect(names[1].isEmpty)
    }
}
