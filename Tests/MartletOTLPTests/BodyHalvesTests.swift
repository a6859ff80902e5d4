import Fixtures
import Foundation
import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import MartletOTLP

@Suite struct BodyHalvesTests {
    @Test(arguments: [2, 3, 11])
    func halvesTogetherHaveEachPointOnceAndCountTheirRequests(endpoints: Int) throws {
        var sample = SampleBatch(seed: 1)
        sample.endpoints = endpoints
        var batch = sample.next()
        batch.captureGap = 1_000_000_000
        let halves = try #require(BodyHalves(batch.otlp(), signal: .metrics))
        let whole = try OTLPExportMetricsServiceRequest(serializedBytes: batch.otlp())
        let first = try OTLPExportMetricsServiceRequest(serializedBytes: halves.first.body)
        let second = try OTLPExportMetricsServiceRequest(serializedBytes: halves.second.body)
        #expect(first.distributions.union(second.distributions) == whole.distributions)
        #expect(first.distributions.isDisjoint(with: second.distributions))
        #expect(first.totals.count + second.totals.count == whole.totals.count)
        #expect((halves.first.requests, halves.second.requests) == (first.requests, second.requests))
        #expect(first.requests + second.requests == batch.requests)
        #expect(whole.agentMetrics.count == 2)
        #expect(first.agentMetrics == whole.agentMetrics && second.agentMetrics == whole.agentMetrics)
    }

    @Test func endOfAnInstanceIsInOneHalf() throws {
        var sample = SampleBatch(seed: 1)
        sample.endpoints = 4
        var batch = sample.next()
        batch.ends = [InstanceEnd(instance: "a", cause: .killed, time: 1)]
        let halves = try #require(BodyHalves(batch.otlp(), signal: .metrics))
        let ends = try [halves.first, halves.second].map { half in
            try OTLPExportMetricsServiceRequest(serializedBytes: half.body).metricNames.contains("martlet.process.end")
        }
        #expect(ends == [true, false])
    }

    @Test func oneSeriesCannotBeHalved() throws {
        var sample = SampleBatch(seed: 2)
        sample.endpoints = 1
        #expect(try BodyHalves(sample.next().otlp(), signal: .metrics) == nil)
        #expect(BodyHalves([0xff], signal: .metrics) == nil)
    }

    @Test func spansAreHalvedDownToOne() throws {
        let spans = try (1...3).map { number in
            SpanRecord(
                traceID: try #require(TraceID(high: 1, low: 2)), spanID: try #require(SpanID(UInt64(number))),
                name: "\(number)", kind: .internal, start: 1, durationNanoseconds: 1)
        }
        let resource = TelemetryResource(service: "shop", instance: "a")
        let halves = try #require(BodyHalves(DetailsBatch(resource: resource, details: spans).otlp(), signal: .traces))
        #expect(try Self.names(halves.first) == ["1"])
        #expect(try Self.names(halves.second) == ["2", "3"])
        #expect(halves.first.requests == 0)
        #expect(BodyHalves(halves.first.body, signal: .traces) == nil)
    }

    private static func names(_ half: BodyHalves.Half) throws -> [String] {
        try OTLPExportTraceServiceRequest(serializedBytes: half.body).resourceSpans
            .flatMap(\.scopeSpans).flatMap(\.spans).map(\.name)
    }
}
