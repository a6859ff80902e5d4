import Fixtures
import MartletReports
import MartletTelemetry
import Testing

@Suite struct RequestTotalsTests {
    private func metrics(service: String = "a", endpoints: Range<Int>) -> InstanceMetrics {
        InstanceMetrics(
            resource: Samples.resource(service),
            points: endpoints.map { Samples.point(Samples.dimensions(endpoint: "/\($0)"), [0.1]) })
    }

    private func counts(_ totals: RequestTotals) -> [String: UInt64] {
        Dictionary(
            uniqueKeysWithValues: totals.totals.map {
                ("\($0.key.service) \($0.key.dimensions.endpoint)", $0.value.duration.count)
            })
    }

    @Test func pastTheLimitRequestsCountToTheOtherEndpointAndKnownSeriesGoOn() {
        var totals = RequestTotals(maxSeries: 2, maxOtherSeries: 1)
        totals.add(metrics(endpoints: 0..<5))
        totals.add(metrics(endpoints: 0..<2))
        #expect(counts(totals) == ["a /0": 2, "a /1": 2, "a {other}": 3])
    }

    @Test func pastTheLimitOfServicesRequestsCountToTheOtherService() {
        var totals = RequestTotals(maxSeries: 2, maxOtherSeries: 1)
        totals.add(metrics(endpoints: 0..<3))
        for number in 0..<100 { totals.add(metrics(service: "b\(number)", endpoints: 0..<1)) }
        #expect(counts(totals) == ["a /0": 1, "a /1": 1, "a {other}": 1, "{other} {other}": 100])
    }

    @Test func noBucketEverShrinksWhateverTheScales() {
        var histogram = ExplicitHistogram(bounds: ExplicitHistogram.requestBounds)
        var random = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let before = histogram.counts
            var sketch = ExponentialHistogram(scale: Int32.random(in: -2...10, using: &random))
            for _ in 0..<5 { sketch.record(.random(in: 0...12, using: &random)) }
            histogram.add(sketch)
            #expect(zip(before, histogram.counts).allSatisfy { $0 <= $1 })
        }
        #expect(histogram.count == 2500)
    }
}
