import MartletIntake
import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

@Suite struct IntakePhasesTests {
    private static let phases = Samples.phases([
        .queue: (3, 0.25), .dns: (1, 0.125), .tls: (1, 2), .firstByte: (3, 1.5), .transfer: (2, 0),
    ])

    private func request() throws -> OTLPExportMetricsServiceRequest {
        var statistics = Samples.statistics([0.1, 0.2, 3], sent: 100)
        statistics.phases = Self.phases
        let batch = MetricsBatch(
            resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10),
            series: [
                Samples.dimensions(): statistics,
                Samples.dimensions(status: nil, error: "timeout"): Samples.statistics([5]),
            ], ledger: Ledger())
        return try .init(serializedBytes: batch.otlp())
    }

    /// Returns the agent's batch with its metric of phases changed.
    private func changed(_ change: (inout OTLPHistogram) -> Void) throws -> OTLPExportMetricsServiceRequest {
        var request = try request()
        let metrics = request.resourceMetrics[0].scopeMetrics[0].metrics
        let index = try #require(metrics.firstIndex { $0.name == "martlet.client.phase.duration" })
        change(&request.resourceMetrics[0].scopeMetrics[0].metrics[index].histogram)
        return request
    }

    private func take(_ request: OTLPExportMetricsServiceRequest) throws -> IntakeResult<InstanceMetrics> {
        try Intake().metrics(try request.serializedBytes(), encoding: .identity)
    }

    private func phases(_ taken: IntakeResult<InstanceMetrics>, of error: String? = nil) -> PhaseTotals? {
        taken.values.first?.points.first { $0.dimensions.error == error }?.statistics.phases
    }

    @Test func phasesArriveUnchanged() throws {
        let taken = try take(try request())
        #expect(phases(taken) == Self.phases)
        #expect(phases(taken, of: "timeout") == PhaseTotals())
        #expect(taken.refusals.total == 0)
    }

    @Test func onlyThePhasesOfARequestAreSent() throws {
        let request = try changed { histogram in
            #expect(histogram.aggregationTemporality == .delta)
            #expect(
                histogram.dataPoints.map { $0.attributes.last?.value.stringValue } == [
                    "queue", "dns", "tls", "first_byte", "transfer",
                ])
            #expect(histogram.dataPoints.allSatisfy { $0.bucketCounts.isEmpty && $0.explicitBounds.isEmpty })
        }
        #expect(
            request.resourceMetrics[0].scopeMetrics[0].metrics.filter { $0.name.hasPrefix("martlet.client") }.count == 1
        )
    }

    @Test func phasesJoinTheirDurationInAnyMetricOrder() throws {
        var request = try request()
        request.resourceMetrics[0].scopeMetrics[0].metrics.reverse()
        var apart = request.resourceMetrics[0].scopeMetrics[0]
        apart.metrics = [apart.metrics.removeLast()]
        request.resourceMetrics[0].scopeMetrics[0].metrics.removeLast()
        request.resourceMetrics[0].scopeMetrics.append(apart)
        let taken = try take(request)
        #expect(phases(taken) == Self.phases)
        #expect(taken.refusals.total == 0)
    }

    @Test func phasesWithoutADurationAreRefused() throws {
        var request = try request()
        request.resourceMetrics[0].scopeMetrics[0].metrics.removeAll { $0.name == "http.client.request.duration" }
        let taken = try take(request)
        #expect(taken.values.map(\.requests) == [0])
        #expect(taken.refusals.total == 5)
        #expect(taken.refusals.message.contains("5 rejected: the phase has no duration"))
    }

    @Test func impossiblePointsAreRefusedAndTheOthersTaken() throws {
        let damages: [(inout OTLPHistogramDataPoint) -> Void] = [
            { $0.sum = -1 }, { $0.sum = .nan }, { $0.sum = 1e300 }, { $0.count = 4 }, { $0.count = .max },
            { $0.attributes.removeLast() },
            { $0.attributes.append(OTLPKeyValue("http.response.status_code", Int64(404))) },
            { $0.attributes[$0.attributes.count - 1] = OTLPKeyValue("martlet.phase", "lunch") },
            { $0.startTimeUnixNano += 1 }, { $0.timeUnixNano = .max },
            { $0.attributes[1] = OTLPKeyValue("url.template", String(repeating: "x", count: 2000)) },
        ]
        var expected = Self.phases
        expected[.queue] = PhaseTotals.Total()
        for (index, damage) in damages.enumerated() {
            let taken = try take(
                try changed { histogram in
                    if index == 6 {
                        histogram.dataPoints[0].attributes.removeAll { $0.key == "http.response.status_code" }
                    }
                    damage(&histogram.dataPoints[0])
                })
            #expect(taken.refusals.total == 1, "damage \(index)")
            #expect(phases(taken) == expected, "damage \(index)")
            #expect(taken.values.map(\.requests) == [4], "damage \(index)")
        }
    }

    /// An agent configured for cumulative points sends cumulative phases too, and that is no mistake.
    @Test func cumulativePhasesAreIgnoredAndNotRefused() throws {
        let taken = try take(try changed { $0.aggregationTemporality = .cumulative })
        #expect(taken.refusals.total == 0)
        #expect(taken.values.map(\.requests) == [4])
        #expect(phases(taken) == PhaseTotals())
    }

    @Test func repeatedPhaseCountsNoMoreRequestsThanTheDuration() throws {
        let taken = try take(try changed { $0.dataPoints += $0.dataPoints })
        // The second points of dns and tls are taken, because one request of three had each.
        #expect(taken.refusals.total == 3)
        #expect(phases(taken)?[.dns].count == 2)
        #expect(phases(taken)?[.queue].count == 3)
    }
}
