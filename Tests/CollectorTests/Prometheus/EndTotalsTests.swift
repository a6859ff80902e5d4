import MartletPrometheus
import MartletStorage
import MartletTelemetry
import Testing

@Suite struct EndTotalsTests {
    private let start = ContinuousClock.now

    private func metrics(_ versions: [String], service: String = "shop") -> InstanceMetrics {
        var metrics = InstanceMetrics(resource: Samples.resource(service), points: [])
        metrics.ends = versions.enumerated().map {
            ReportedEnd(instance: "i-\($0)", version: $1, time: Samples.time(1), cause: .signal)
        }
        return metrics
    }

    @Test func endsPastTheLimitCountToTheOtherServiceByTheirCause() {
        var totals = EndTotals(maxSeries: 2)
        totals.add(metrics(["1", "2", "3", "4", "1"]), at: start)
        let samples = totals.text(at: start).split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(samples.count == 3)
        #expect(samples.contains { $0.contains(#"service_version="1""#) && $0.hasSuffix(" 2") })
        #expect(samples.contains { $0 == #"martlet_process_ends_total{service_name="{other}",cause="signal"} 2"# })
    }

    /// Prometheus counts differences, so it would miss the first end of a series without a sample of zero.
    @Test func newSeriesIsZeroForAWhile() {
        var totals = EndTotals(scrapeInterval: .seconds(60))
        totals.add(metrics(["1"]), at: start)
        #expect(totals.text(at: start + .seconds(89)).hasSuffix("} 0\n"))
        #expect(totals.text(at: start + .seconds(90)).hasSuffix("} 1\n"))
    }
}
