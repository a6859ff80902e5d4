import Fixtures
import MartletPrometheus
import MartletStorage
import MartletTelemetry
import Testing

@Suite struct RequestTotalsTests {
    private func metrics(service: String = "a", endpoints: Range<Int>) -> InstanceMetrics {
        InstanceMetrics(
            resource: Samples.resource(service),
            points: endpoints.map { Samples.point(Samples.dimensions(endpoint: "/\($0)"), [0.1]) })
    }

    private let start = ContinuousClock.now

    private func all(_ totals: RequestTotals) -> [RequestTotals.Series: RequestTotals.Total] {
        totals.samples(at: start)
    }

    private func counts(_ totals: RequestTotals) -> [String: UInt64] {
        Dictionary(
            uniqueKeysWithValues: all(totals).map {
                ("\($0.key.service.name) \($0.key.dimensions.endpoint)", $0.value.duration.count)
            })
    }

    @Test func requestsPastTheLimitCountAsOtherAndKnownSeriesContinue() {
        var totals = RequestTotals(maxSeries: 2, maxOverflowSeries: 1)
        totals.add(metrics(endpoints: 0..<5), at: start)
        totals.add(metrics(endpoints: 0..<2), at: start)
        #expect(counts(totals) == ["a /0": 2, "a /1": 2, "a {other}": 3])
    }

    @Test func requestsPastTheOverflowLimitCountToTheOtherService() {
        var totals = RequestTotals(maxSeries: 2, maxOverflowSeries: 1)
        totals.add(metrics(endpoints: 0..<3), at: start)
        for number in 0..<100 { totals.add(metrics(service: "b\(number)", endpoints: 0..<1), at: start) }
        #expect(counts(totals) == ["a /0": 1, "a /1": 1, "a {other}": 1, "{other} {other}": 100])
    }

    @Test func otherServiceKeepsSpansAndMetricsApart() {
        var totals = RequestTotals(maxSeries: 0, maxOverflowSeries: 0)
        totals.add(metrics(endpoints: 0..<1), at: start)
        var spans = metrics(service: "b", endpoints: 0..<1)
        var dimensions = spans.points[0].dimensions
        dimensions.source = .spans
        spans.points = [Samples.point(dimensions, [0.1])]
        totals.add(spans, at: start)
        let counts = PrometheusRequests(totals, at: start).parts.joined().split(separator: "\n").filter {
            $0.contains("_count{")
        }
        #expect(counts.count == 2)
        #expect(counts.count { $0.contains("martlet_source=\"spans\"") } == 1)
    }

    @Test func metricsOfHTTPKeepTheSpansOfADatabase() {
        var totals = RequestTotals()
        totals.add(metrics(endpoints: 0..<1), at: start)
        var spans = metrics(endpoints: 0..<1)
        for system in [nil, "postgresql"] {
            var dimensions = spans.points[0].dimensions
            (dimensions.source, dimensions.system) = (.spans, system)
            spans.points = [Samples.point(dimensions, [0.1])]
            totals.add(spans, at: start)
        }
        let counts = PrometheusRequests(totals, at: start).parts.joined().split(separator: "\n").filter {
            $0.contains("_count{")
        }
        #expect(counts.count == 2)
        #expect(counts.filter { $0.contains("martlet_source=\"spans\"") }.count == 1)
        #expect(counts.count { $0.contains("martlet_system=\"postgresql\"") } == 1)
    }

    @Test(arguments: [0, 1, 15, 60, 120]) func seriesIsZeroForOneAndAHalfIntervals(interval: Int) {
        var totals = RequestTotals(scrapeInterval: .seconds(interval))
        let samples = { (totals: RequestTotals, milliseconds: Int) -> [String: UInt64] in
            Dictionary(
                uniqueKeysWithValues: totals.samples(at: start + .milliseconds(milliseconds)).map {
                    ($0.key.dimensions.endpoint, $0.value.duration.count)
                })
        }
        let zeroTime = interval * 1500
        totals.add(metrics(endpoints: 0..<1), at: start)
        if interval > 0 { #expect(samples(totals, zeroTime - 1) == ["/0": 0]) }
        #expect(samples(totals, zeroTime) == ["/0": 1])
        totals.add(metrics(endpoints: 0..<2), at: start + .milliseconds(zeroTime))
        if interval > 0 { #expect(samples(totals, 2 * zeroTime - 1) == ["/0": 2, "/1": 0]) }
        #expect(samples(totals, 2 * zeroTime) == ["/0": 2, "/1": 1])
    }

    /// Returns the counts of requests that share a series, by `kind status error`.
    private func ends(maxOverflowSeries: Int) -> [String: UInt64] {
        var totals = RequestTotals(maxSeries: 0, maxOverflowSeries: maxOverflowSeries)
        let client: [(Int?, String?)] = [
            (200, nil), (404, "404"), (503, "503"), (nil, "timeout"), (nil, "dns"), (nil, "hung"), (nil, "cancelled"),
        ]
        let server: [(Int?, String?)] = [(200, nil), (404, "NotFound"), (500, "TypeError"), (700, "700")]
        let points = [(RequestKind.client, client), (.server, server)].flatMap { kind, ends in
            ends.map { Samples.point(Samples.dimensions(kind, status: $0.0, error: $0.1), [0.1]) }
        }
        totals.add(InstanceMetrics(resource: Samples.resource(), points: points), at: start)
        return all(totals).reduce(into: [:]) { ends, series in
            let dimensions = series.key.dimensions
            let end = [dimensions.kind.rawValue, dimensions.status.map(String.init), dimensions.error]
            ends[end.map { $0 ?? "-" }.joined(separator: " "), default: 0] += series.value.duration.count
        }
    }

    @Test func otherEndpointKeepsTheOutcomesOfRequests() {
        #expect(
            ends(maxOverflowSeries: 20) == [
                "client 200 -": 1, "client 404 404": 1, "client 503 503": 1, "client - _OTHER": 2, "client - hung": 1,
                "client - cancelled": 1, "server 200 -": 1, "server 404 404": 1, "server 500 500": 1,
                "server - _OTHER": 1,
            ])
    }

    @Test func otherServiceKeepsTheFailures() {
        #expect(
            ends(maxOverflowSeries: 0) == [
                "client - -": 1, "client - _OTHER": 4, "client - hung": 1, "client - cancelled": 1, "server - -": 2,
                "server - _OTHER": 2,
            ])
    }

    @Test func noBucketShrinksAtAnyScale() {
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
