import Fixtures
import MartletIntake
import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

/// Histograms whose buckets the sender chose.
@Suite struct ExplicitBucketTests {
    private static let bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

    private func take(
        _ points: [OTLPHistogramDataPoint], _ temporality: OTLPAggregationTemporality = .delta
    ) throws -> IntakeResult<InstanceMetrics> {
        let request = OtherMetrics.request(scopes: [[OtherMetrics.histogram(points, temporality)]])
        return try Intake().metrics(try request.serializedBytes(), encoding: .identity)
    }

    private func durations(_ point: OTLPHistogramDataPoint) throws -> ExponentialHistogram {
        let taken = try take([point])
        #expect(taken.refusals.message == "")
        return try #require(taken.values.first?.points.first).statistics.duration
    }

    @Test(arguments: [true, false]) func quantilesLieInTheSameBucketAsTheExactOnes(withRange: Bool) throws {
        var random = SeededGenerator(seed: 5)
        let values = (0..<5000).map { _ in
            Double.random(in: 0.001...3, using: &random) * .random(in: 0...4, using: &random)
        }
        .sorted()
        let sketch = try durations(OtherMetrics.point(values, bounds: Self.bounds, withRange: withRange))
        #expect(sketch.count == 5000)
        #expect(abs(sketch.sum - values.reduce(0, +)) < 1e-6)
        #expect(sketch.min == (withRange ? values.first : nil))
        #expect(sketch.max == (withRange ? values.last : nil))
        for q in [0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999] {
            let exact = values[Int((q * 5000).rounded(.up)) - 1]
            let found = try #require(sketch.quantile(q))
            let low = Self.bounds.last { $0 < exact } ?? 0
            let high = Self.bounds.first { $0 >= exact } ?? .infinity
            #expect(found > low && found <= high, "\(q): \(found) for \(exact)")
        }
    }

    /// Values close to a bound: the smallest or the largest value makes the outermost buckets narrow.
    @Test(arguments: [
        [0.00999, 0.01, 0.2, 0.3], [0.0101, 0.09999, 0.1, 0.1001], [0.2499, 0.25, 0.2501], [0.005, 0.0051, 7.499, 7.5],
        [0.0749, 0.075, 0.0751, 0.1], [0.999, 1, 1.001, 2.5, 2.501],
    ])
    func quantilesOfValuesNextToABoundLieInTheirBucket(values: [Double]) throws {
        for withRange in [true, false] {
            let sketch = try durations(OtherMetrics.point(values, bounds: Self.bounds, withRange: withRange))
            for (index, exact) in values.enumerated() {
                let found = try #require(sketch.quantile(Double(index + 1) / Double(values.count)))
                let low = Self.bounds.last { $0 < exact } ?? 0
                let high = Self.bounds.first { $0 >= exact } ?? .infinity
                #expect(found > low && found <= high, "\(found) for \(exact)")
            }
        }
    }

    @Test func evenlySpreadValuesGiveNearlyExactQuantiles() throws {
        let values = (1...1000).map { Double($0) / 1000 }
        let sketch = try durations(OtherMetrics.point(values, bounds: [0.25, 0.5, 0.75, 1]))
        for q in [0.1, 0.3, 0.5, 0.9, 0.99] { #expect(abs(try #require(sketch.quantile(q)) - q) < 0.02) }
        #expect(sketch.quantile(1) == 1)
    }

    @Test func highestBucketEndsAtTheLargestValueOrTwiceItsBound() throws {
        let values = [11, 15, 20, 30.0]
        let bounded = try durations(OtherMetrics.point(values, bounds: [1, 10]))
        #expect((11...30).contains(try #require(bounded.quantile(0.5))))
        #expect(bounded.quantile(1) == 30)
        let open = try durations(OtherMetrics.point(values, bounds: [1, 10], withRange: false))
        #expect((10...20).contains(try #require(open.quantile(0.5))))
    }

    @Test func lowestBucketBeginsAtTheSmallestValue() throws {
        let values = (0...1000).map { 0.9 + Double($0) / 10_000 }
        let sketch = try durations(OtherMetrics.point(values, bounds: [1]))
        #expect(abs(try #require(sketch.quantile(0.5)) - 0.95) < 0.01)
    }

    /// A cumulative histogram also counts the requests of earlier ones, so its count is not the number of lost requests.
    @Test(arguments: [(.delta, 2), (.cumulative, 0)] as [(OTLPAggregationTemporality, UInt64)])
    func onlyRefusedDeltasCountTheirRequests(temporality: OTLPAggregationTemporality, requests: UInt64) throws {
        var damaged = OtherMetrics.point([0.2, 0.3])
        damaged.explicitBounds.reverse()
        let refusals = try take([damaged], temporality).refusals
        #expect(refusals.total == 1)
        #expect(refusals.requests == requests)
    }

    @Test func valuesWithoutBucketsCountAsTheirMean() throws {
        for counts in [[], [3]] as [[UInt64]] {
            var point = OtherMetrics.point([0.1, 0.2, 0.6], bounds: [])
            point.bucketCounts = counts
            let sketch = try durations(point)
            #expect(sketch.count == 3)
            #expect(abs(sketch.mean - 0.3) < 1e-9)
            #expect(abs(try #require(sketch.quantile(0.5)) - 0.3) < 0.001)
            #expect(sketch.quantile(1) == 0.6)
        }
    }

    @Test func zeroValuesStayZero() throws {
        let sketch = try durations(OtherMetrics.point([0, 0, 0.3], bounds: [0, 0.5]))
        #expect(sketch.zeroCount == 2)
        #expect(sketch.count == 3)
    }

    @Test func impossiblePointsAreRefusedAndTheOthersTaken() throws {
        let damages: [(inout OTLPHistogramDataPoint) -> Void] = [
            { $0.explicitBounds = [0.5, 0.1, 1] }, { $0.explicitBounds = [.nan, 0.1, 1] }, { $0.bucketCounts = [1] },
            { $0.explicitBounds = [0.1] }, { $0.count = 9 }, { $0.bucketCounts = [.max, .max, 3, 0] },
            { $0.clearSum() }, { $0.sum = .infinity }, { $0.sum = -1 }, { $0.timeUnixNano = 0 },
        ]
        for (index, damage) in damages.enumerated() {
            var damaged = OtherMetrics.point([0.2, 0.3])
            damage(&damaged)
            let taken = try take([damaged, OtherMetrics.point([0.2, 0.3, 0.4])])
            #expect(taken.refusals.total == 1, "damage \(index)")
            #expect(taken.values.map(\.requests) == [3], "damage \(index)")
        }
    }

    @Test func refusalNamesItsCause() throws {
        let many = ExponentialHistogram.maxBuckets + 1
        let causes: [(cause: String, damage: (inout OTLPHistogramDataPoint) -> Void)] = [
            ("the count is not the sum of the buckets", { $0.count = 0 }),
            ("the count is not the sum of the buckets", { $0.count = 9 }),
            ("do not ascend", { $0.explicitBounds.reverse() }),
            (
                "more than 4096 buckets",
                {
                    $0.explicitBounds = (1..<many).map(Double.init)
                    $0.bucketCounts = Array(repeating: 1, count: many)
                }
            ),
        ]
        for (cause, damage) in causes {
            var damaged = OtherMetrics.point([0.2, 0.3])
            damage(&damaged)
            let message = try take([damaged]).refusals.message
            #expect(message.contains(cause))
        }
    }

    @Test func refusalOfExponentialBucketsNamesItsCause() throws {
        let causes: [(cause: String, damage: (inout OTLPExponentialHistogramDataPoint) -> Void)] = [
            ("the count is not the sum of the buckets", { $0.count = 0 }),
            ("a duration is negative", { $0.negative.bucketCounts = [0, 1] }),
            ("more than 4096 buckets", { $0.positive.bucketCounts = Array(repeating: 1, count: 4097) }),
            ("out of bounds", { $0.scale = 99 }),
        ]
        for (cause, damage) in causes {
            var request: OTLPExportMetricsServiceRequest = try .init(serializedBytes: Samples.body())
            damage(&request.resourceMetrics[0].scopeMetrics[0].metrics[0].exponentialHistogram.dataPoints[0])
            let taken = try Intake().metrics(try request.serializedBytes(), encoding: .identity)
            #expect(taken.refusals.message.contains(cause))
        }
    }

    /// Bounds and counts of 10 durations: 5 up to 0.1 s, 4 up to 0.5 s, and 1 above.
    private static let bucketsWithInfiniteBounds: [(bounds: [Double], counts: [UInt64])] = [
        ([0.1, 0.5, .infinity], [5, 4, 1]),
        ([0.1, 0.5, .infinity], [5, 4, 1, 0]),
        ([-.infinity, 0.1, 0.5, .infinity], [0, 5, 4, 1, 0]),
        ([-.infinity, 0.1, 0.5, .infinity], [0, 5, 4, 1]),
        ([-.infinity, 0.1, 0.5, .infinity], [5, 4, 1, 0]),
        ([-.infinity, 0.1, 0.5, .infinity], [5, 4, 1]),
        ([-.infinity, 0.1, 0.5], [0, 5, 4, 1]),
        ([-.infinity, 0.1, 0.5], [5, 4, 1]),
        ([0.1, 0.5, .greatestFiniteMagnitude], [5, 4, 1]),
        ([0.1, 0.5, .greatestFiniteMagnitude], [5, 4, 0, 1]),
        ([-.greatestFiniteMagnitude, 0.1, 0.5, .greatestFiniteMagnitude, .infinity], [0, 5, 4, 1, 0, 0]),
    ]

    @Test(arguments: bucketsWithInfiniteBounds.indices, [.delta, .cumulative] as [OTLPAggregationTemporality])
    func infiniteBoundIsNoBound(index: Int, temporality: OTLPAggregationTemporality) throws {
        let (bounds, counts) = Self.bucketsWithInfiniteBounds[index]
        func duration(_ bounds: [Double], _ counts: [UInt64]) throws -> ExponentialHistogram {
            var point = OtherMetrics.point(Array(repeating: 0.2, count: 10), withRange: false)
            (point.explicitBounds, point.bucketCounts) = (bounds, counts)
            let taken = try take([point], temporality)
            #expect(taken.refusals.message == "")
            let metrics = try #require(taken.values.first)
            return try #require(metrics.points.first ?? metrics.cumulative.first?.point).statistics.duration
        }
        let expected = try duration([0.1, 0.5], counts.filter { $0 > 0 })
        #expect(try duration(bounds, counts) == expected)
    }

    @Test func histogramWhoseOnlyBoundIsInfiniteHasNoBounds() throws {
        for counts in [[3], [3, 0]] as [[UInt64]] {
            var point = OtherMetrics.point([0.1, 0.2, 0.6], withRange: false)
            (point.explicitBounds, point.bucketCounts) = ([.infinity], counts)
            let sketch = try durations(point)
            #expect(sketch.count == 3)
            #expect(abs(try #require(sketch.quantile(0.5)) - 0.3) < 0.001)
        }
    }

    @Test(
        arguments: [
            ([.infinity, 0.1], [1, 1, 1]), ([0.1, .infinity, 0.5], [1, 1, 1, 0]), ([0.1, .infinity], [3]),
            ([0.1, .infinity], [1, 1, 1, 0]), ([.infinity], [1, .max, 3]),
        ] as [([Double], [UInt64])])
    func infiniteBoundsThatDoNotFitAreRefused(bounds: [Double], counts: [UInt64]) throws {
        var point = OtherMetrics.point([0.1, 0.2, 0.6])
        (point.explicitBounds, point.bucketCounts) = (bounds, counts)
        #expect(try take([point]).refusals.total == 1)
    }

    @Test func unusualNumbersDoNotCrash() throws {
        let odd: [(inout OTLPHistogramDataPoint) -> Void] = [
            { $0.explicitBounds = [-1, 0, .greatestFiniteMagnitude] },
            { $0.explicitBounds = [0, .leastNonzeroMagnitude, 1e-300] },
            { ($0.min, $0.max) = (.nan, .nan) }, { ($0.min, $0.max) = (5, 1) }, { ($0.min, $0.max) = (-1, -2) },
            { ($0.min, $0.max) = (.infinity, -.infinity) }, { $0.explicitBounds = [-.greatestFiniteMagnitude, 0, 1] },
        ]
        for change in odd {
            var point = OtherMetrics.point([0.2, 0.3, 7])
            change(&point)
            let sketch = try #require(try take([point]).values.first?.points.first?.statistics.duration)
            #expect(sketch.count == 3)
            #expect(sketch.quantile(0.5)?.isFinite == true)
        }
    }

    /// The second attribute is not kept, so the points are added up, and their own figures are kept as well.
    @Test(arguments: ["http.route", "network.protocol.version"])
    func bodyCannotExceedTheLimitOfBuckets(attribute: String) throws {
        // Two values far apart make thousands of buckets from a hundred bytes.
        let points = (0..<10).map { number in
            OtherMetrics.point(
                [1e-8, 1e8], bounds: [1e-9, 1e-7, 1e7], attributes: [OTLPKeyValue(attribute, "/\(number)")])
        }
        let request = OtherMetrics.request(scopes: [[OtherMetrics.histogram(points, .delta)]])
        var limits = IntakeLimits()
        limits.maxSketchBuckets = 20_000
        let taken = try Intake(limits: limits).metrics(try request.serializedBytes(), encoding: .identity)
        let requests = taken.values.reduce(0) { $0 + $1.requests }
        #expect(requests > 0 && requests < 20)
        #expect(taken.refusals.message.contains("too many buckets"))
        #expect(taken.refusals.requests + requests == 20)
        #expect(try take([OtherMetrics.point([1], bounds: (0..<5000).map(Double.init))]).refusals.total == 1)
    }

    @Test func missingTemporalityIsRefused() throws {
        #expect(try take([OtherMetrics.point([1])], .unspecified).refusals.message.contains("cumulative"))
    }
}
