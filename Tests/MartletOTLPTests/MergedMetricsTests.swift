import Fixtures
import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import MartletOTLP

@Suite struct MergedMetricsTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func mergedBatchesEqualOneLongInterval(seed: UInt64) throws {
        var sample = SampleBatch(seed: seed)
        sample.endpoints = 12
        let batches = (0..<6).map { number in
            var batch = sample.next()
            batch.captureGap = UInt64(number) * 1_000_000_000
            batch.agentCPU = UInt64(number + 1) * 1_000_000
            return batch
        }
        let merged = try Self.merge(batches)
        let whole = try OTLPExportMetricsServiceRequest(serializedBytes: Self.oneInterval(of: batches).otlp())
        #expect(merged.metricNames == whole.metricNames)
        #expect(merged.distributions == whole.distributions)
        #expect(merged.agentMetrics == whole.agentMetrics)
        // Another order of additions changes a sum of doubles by an ulp.
        for (key, total) in whole.totals {
            let other = try #require(merged.totals[key])
            #expect(other.count == total.count)
            #expect(abs(other.sum - total.sum) <= total.sum * 1e-12)
        }
        #expect(merged.totals.count == whole.totals.count)
    }

    @Test func mergedHalvesEqualTheMergedWhole() throws {
        var sample = SampleBatch(seed: 4)
        let batches = (0..<4).map { _ in sample.next() }
        var halves = try #require(MergedMetrics(Self.merge(Array(batches[..<2])).serializedBytes()))
        let isAdded = try halves.add(Self.merge(Array(batches[2...])).serializedBytes())
        #expect(isAdded)
        let whole = try Self.merge(batches)
        let both = try OTLPExportMetricsServiceRequest(serializedBytes: halves.otlp())
        #expect(both.distributions == whole.distributions)
        #expect(both.agentMetrics == whole.agentMetrics)
    }

    @Test func endOfAnInstanceSurvivesAMergeWithItsTime() throws {
        var sample = SampleBatch(seed: 7)
        var batches = (0..<3).map { _ in sample.next() }
        var end = InstanceEnd(instance: "a", cause: .signal, time: 4711)
        end.signal = "SIGILL"
        end.places = [CodePlace(function: "Files.read(_:)", file: "App/Files.swift", line: 41)]
        batches[1].ends = [end]
        let metrics = try Self.merge(batches).resourceMetrics.flatMap(\.scopeMetrics).flatMap(\.metrics)
        let points = try #require(metrics.first { $0.name == "martlet.process.end" }).sum.dataPoints
        #expect(points.map(\.asInt) == [1])
        let attributes = points.flatMap(\.attributes).reduce(into: [:]) { $0[$1.key] = $1.value }
        #expect(attributes["martlet.reason"]?.stringValue == "signal")
        #expect(attributes["martlet.ended.instance"]?.stringValue == "a")
        #expect(attributes["martlet.ended.time"]?.intValue == 4711)
        #expect(attributes["martlet.ended.signal"]?.stringValue == "SIGILL")
        let places = attributes["martlet.ended.frames"]?.arrayValue.values.map(\.stringValue)
        #expect(places == ["Files.read(_:) at App/Files.swift:41"])
        #expect(attributes["code.line.number"]?.intValue == 41)
    }

    @Test func batchesOfTwoResourcesAreNotMerged() throws {
        var sample = SampleBatch(seed: 5)
        let first = try sample.next().otlp()
        sample.resource.captureMode = "off"
        let other = try sample.next().otlp()
        var merged = try #require(MergedMetrics(first))
        let before = try merged.otlp().count
        let isAdded = merged.add(other)
        #expect(!isAdded)
        #expect(try merged.otlp().count == before)
    }

    @Test func bodyThatNoAgentMakesIsNotMerged() throws {
        var sample = SampleBatch(seed: 6)
        let batch = try sample.next().otlp()
        #expect(MergedMetrics([]) == nil)
        #expect(MergedMetrics([0xff, 0xff]) == nil)
        var cumulative = try OTLPExportMetricsServiceRequest(serializedBytes: batch)
        cumulative.resourceMetrics[0].scopeMetrics[0].metrics[0].exponentialHistogram.aggregationTemporality =
            .cumulative
        #expect(try MergedMetrics(cumulative.serializedBytes()) == nil)
        var merged = try #require(MergedMetrics(batch))
        for other in [try cumulative.serializedBytes(), Array(batch.dropLast(3))] {
            let isAdded = merged.add(other)
            #expect(!isAdded)
        }
    }

    // MARK: -

    static func merge(_ batches: [MetricsBatch]) throws -> OTLPExportMetricsServiceRequest {
        var merged = try #require(MergedMetrics(batches[0].otlp()))
        for batch in batches.dropFirst() {
            let isAdded = try merged.add(batch.otlp())
            #expect(isAdded)
        }
        return try OTLPExportMetricsServiceRequest(serializedBytes: merged.otlp())
    }

    static func oneInterval(of batches: [MetricsBatch]) -> MetricsBatch {
        var merged = batches[0]
        for batch in batches.dropFirst() {
            merged.end = batch.end
            (merged.ledger, merged.captureGap, merged.agentCPU) = (batch.ledger, batch.captureGap, batch.agentCPU)
            for (dimensions, statistics) in batch.series {
                merged.series[dimensions, default: RequestStatistics()].merge(statistics)
            }
        }
        return merged
    }
}

extension OTLPExportMetricsServiceRequest {
    var metrics: [OTLPMetric] { resourceMetrics.flatMap(\.scopeMetrics).flatMap(\.metrics) }
    var metricNames: Set<String> { Set(metrics.map(\.name)) }
    /// The points of the distributions, without their sums.
    var distributions: Set<OTLPExponentialHistogramDataPoint> {
        Set(
            metrics.flatMap(\.exponentialHistogram.dataPoints).map { point in
                var point = point
                point.clearSum()
                return point
            })
    }
    var totals: [OTLPHistogramDataPoint: (count: UInt64, sum: Double)] {
        metrics.flatMap { metric in metric.histogram.dataPoints.map { (metric.name, $0) } }.reduce(into: [:]) {
            var key = $1.1
            let total = (key.count, key.sum)
            key.clearSum()
            key.count = 0
            key.attributes.append(OTLPKeyValue("metric", $1.0))
            $0[key] = total
        }
    }
    var agentMetrics: Set<OTLPMetric> { Set(metrics.filter { MetricName.agentMetrics.contains($0.name) }) }
    var requests: UInt64 { metrics.flatMap(\.exponentialHistogram.dataPoints).reduce(0) { $0 + $1.count } }
}
