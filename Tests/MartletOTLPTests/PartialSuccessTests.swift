import Fixtures
import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import MartletOTLP

@Suite struct PartialSuccessTests {
    @Test func refusalsInAnAnswerAreRead() throws {
        var metrics = OTLPExportMetricsServiceResponse()
        #expect(try PartialSuccess(inBody: metrics.serializedBytes(), signal: .metrics) == nil)
        metrics.partialSuccess.rejectedDataPoints = 3
        metrics.partialSuccess.errorMessage = "too old"
        #expect(
            try PartialSuccess(inBody: metrics.serializedBytes(), signal: .metrics)
                == PartialSuccess(rejected: 3, message: "too old"))
        var traces = OTLPExportTraceServiceResponse()
        traces.partialSuccess.rejectedSpans = 2
        #expect(
            try PartialSuccess(inBody: traces.serializedBytes(), signal: .traces)
                == PartialSuccess(rejected: 2, message: ""))
    }

    @Test(arguments: [[], [0xff], Array("{}".utf8), Array("<html>".utf8)] as [[UInt8]])
    func bodyThatIsNotAnExportResponseIsAFullSuccess(body: [UInt8]) {
        #expect(PartialSuccess(inBody: body, signal: .metrics) == nil)
        #expect(PartialSuccess(inBody: body, signal: .traces) == nil)
    }

    @Test func negativeNumberCountsAsNone() throws {
        var metrics = OTLPExportMetricsServiceResponse()
        metrics.partialSuccess.rejectedDataPoints = -5
        #expect(try PartialSuccess(inBody: metrics.serializedBytes(), signal: .metrics) == nil)
    }

    @Test func onlyPointsAboutRequestsAreCounted() throws {
        var sample = SampleBatch(seed: 1)
        sample.endpoints = 2
        // Each endpoint has durations, bytes received and two phases.
        var batch = sample.next()
        batch.captureGap = 1_000_000_000
        #expect(try PartialSuccess.dataPoints(inBody: batch.otlp()) == 8)
        #expect(PartialSuccess.dataPoints(inBody: [0xff]) == 0)
    }
}
