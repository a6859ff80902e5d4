import MartletIntake
import MartletOTLP
import Testing

/// The intake for a store that cannot count cumulative metrics.
@Suite struct RefusedCumulativeTests {
    private let intake = Intake(limits: IntakeLimits(takesCumulative: false))

    @Test func cumulativePointsAreRefusedWithTheSettingThatHelps() throws {
        let delta = OtherMetrics.histogram([OtherMetrics.point([0.2], end: 20)], .delta)
        let request = OtherMetrics.request(scopes: [
            [OtherMetrics.histogram([OtherMetrics.point([0.2, 0.3])])], [delta],
        ])
        let taken = try intake.metrics(try request.serializedBytes(), encoding: .identity)
        #expect(taken.refusals.message.contains("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta"))
        #expect(taken.refusals.total == 1)
        #expect(taken.values.map(\.requests) == [1])
    }
}
