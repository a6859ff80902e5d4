import MartletTelemetry
import Testing

/// Histograms of several scales in one.
@Suite struct MixedScalesTests {
    /// A mixture of values that are known at different scales.
    struct Mixture: Sendable, CustomTestStringConvertible {
        /// The number of values at each scale.
        let counts: [(scale: Int32, count: Int)]
        /// The largest relative error of a quantile.
        let error: Double

        var testDescription: String { "\(counts)" }
    }

    static let mixtures = [
        Mixture(counts: [(7, 10_000), (-2, 1)], error: 0.003),
        Mixture(counts: [(7, 10_000), (0, 100), (-10, 1)], error: 0.02),
        Mixture(counts: [(6, 5000), (7, 5000)], error: 0.006),
        Mixture(counts: [(7, 7000), (3, 2000), (-1, 1000)], error: 0.06),
        Mixture(counts: [(20, 1), (5, 9000), (-2, 500)], error: 0.06),
        Mixture(counts: [(12, 5000), (8, 5000), (0, 50)], error: 0.03),
    ]

    /// Returns the values of a mixture, and each scale's values as the points of twenty senders.
    private static func points(of mixture: Mixture) -> (values: [Double], points: [ExponentialHistogram]) {
        var (values, points, seed) = ([Double](), [ExponentialHistogram](), UInt64(3))
        for (scale, count) in mixture.counts {
            let some = bell(count, seed: seed)
            for first in stride(from: 0, to: count, by: (count + 19) / 20) {
                let part = Array(some[first..<min(first + (count + 19) / 20, count)])
                points.append(received(part, scale: scale))
            }
            values += some
            seed += 1
        }
        return (values.sorted(), points)
    }

    /// Returns durations around 50 ms.
    private static func bell(_ count: Int, seed: UInt64) -> [Double] {
        var state = seed
        return (0..<count).map { _ in
            (0..<6).reduce(0.02) { sum, _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return sum + 0.01 * Double(state >> 11) / Double(1 << 53)
            }
        }
    }

    private static func received(_ values: [Double], scale: Int32) -> ExponentialHistogram {
        let one = ExponentialHistogramTests.histogram(values, scale: scale)
        return ExponentialHistogram(
            scale: one.scale, sum: one.sum, min: one.min, max: one.max, zeroCount: 0, offset: one.offset,
            buckets: one.buckets) ?? one
    }

    private static func merged(_ points: [ExponentialHistogram]) -> ExponentialHistogram {
        points.reduce(into: ExponentialHistogram()) { $0.merge($1) }
    }

    private static let shares = [0.5, 0.75, 0.9, 0.95, 0.99]

    @Test(arguments: mixtures) func quantilesHaveTheErrorOfMostValues(mixture: Mixture) throws {
        let (values, points) = Self.points(of: mixture)
        let all = Self.merged(points)
        #expect(all.count == UInt64(values.count))
        for share in Self.shares {
            let exact = values[Int((share * Double(values.count)).rounded(.up)) - 1]
            #expect(abs(try #require(all.quantile(share)) / exact - 1) < mixture.error, "\(share)")
        }
    }

    @Test(arguments: mixtures) func orderOfMergingDoesNotMatter(mixture: Mixture) {
        let points = Self.points(of: mixture).points
        let whole = Self.merged(points)
        let halves = [
            points.enumerated().filter { $0.offset % 3 == 0 }, points.enumerated().filter { $0.offset % 3 > 0 },
        ]
        .map { Self.merged($0.map(\.element)) }
        let orders = [points.reversed(), halves, halves.flatMap(\.parts), whole.parts, whole.parts.reversed()]
        for order in orders {
            let other = Self.merged(Array(order))
            #expect(other.quantiles(Self.shares) == whole.quantiles(Self.shares))
            #expect(other.parts.map(\.buckets) == whole.parts.map(\.buckets))
            #expect(other.count == whole.count)
        }
    }

    @Test(arguments: mixtures) func listsOfBucketsMergeLikeHistograms(mixture: Mixture) {
        let points = Self.points(of: mixture).points
        let lists = points.reduce(into: ExponentialHistogram()) { all, point in
            var list = SparseHistogram()
            (list.scale, list.sum, list.min, list.max) = (point.scale, point.sum, point.min, point.max)
            list.buckets = point.buckets.enumerated().filter { $0.element > 0 }
                .map { (index: point.offset + Int32($0.offset), count: $0.element) }
            (list.bucketCount, list.valuesInBuckets) = (list.buckets.count, point.count)
            let isValid = all.merge(list)
            #expect(isValid)
        }
        #expect(lists == Self.merged(points))
    }

    @Test(arguments: mixtures) func spreadAndJoinedKeepEveryCount(mixture: Mixture) {
        let all = Self.merged(Self.points(of: mixture).points)
        for one in [all, all.spread, all.joined] {
            #expect(one.parts.reduce(0) { $0 + $1.count } == all.count)
            #expect(one.bucketCount <= ExponentialHistogram.maxBuckets)
            #expect((one.sum, one.min, one.max) == (all.sum, all.min, all.max))
        }
        #expect(!all.spread.isMixed && all.spread.scale == all.scale)
    }

    @Test func lowerScaleHoldsForFinerValuesAddedLater() {
        var all = ExponentialHistogram()
        all.lowerScale(to: 3)
        for scale in [7, 0, 5, 3] as [Int32] { all.merge(Self.received([0.05, 0.1], scale: scale)) }
        #expect(all.parts.map(\.scale) == [3, 0])
        #expect(all.parts.map(\.count) == [6, 2])
    }

    @Test func wideValuesOfManyScalesStayWithinTheLimit() {
        var all = ExponentialHistogram()
        for exponent in stride(from: -300, through: 300, by: 3) {
            for scale in -2...7 as ClosedRange<Int32> {
                all.merge(Self.received([Double(sign: .plus, exponent: exponent, significand: 1.5)], scale: scale))
                #expect(all.bucketCount <= ExponentialHistogram.maxBuckets)
            }
        }
        #expect(all.count == 2010)
    }
}

/// The sum of values bounds every figure.
@Suite struct SumBoundsTests {
    /// Buckets that say more than their sum allows: `count` values in the bucket of `value`.
    struct Figures: Sendable {
        var count: UInt64
        var value: Double
        var sum: Double
        var min: Double?
        var max: Double?
    }

    static let cases = [
        // A largest value since the start.
        Figures(count: 1, value: 0.01, sum: 0.01, max: 5),
        Figures(count: 1, value: 5, sum: 0.01, max: 5),
        // Seconds in buckets that were meant for milliseconds.
        Figures(count: 100, value: 2.34, sum: 2),
        Figures(count: 7, value: 0.5, sum: 0.7, min: 0.4, max: 30),
        // A largest value below the mean, and a smallest above it.
        Figures(count: 10, value: 0.01, sum: 5, min: 0.001, max: 0.01),
        Figures(count: 3, value: 1, sum: 0.3, min: 1, max: 2),
    ]

    @Test(arguments: cases) func noFigureIsBeyondTheSum(figures: Figures) throws {
        var one = ExponentialHistogram(
            [(figures.value, figures.count)], sum: figures.sum, min: figures.min, max: figures.max)
        var three = ExponentialHistogram()
        for _ in 1...3 { three.merge(one) }
        one.merge(ExponentialHistogram())
        for histogram in [one, three] {
            let largest = try #require(histogram.quantile(1))
            #expect(largest <= histogram.sum * 1.000001)
            #expect(largest >= histogram.mean * 0.999999)
            for share in [0.01, 0.5, 0.75, 0.9, 0.95, 0.99] {
                let quantile = try #require(histogram.quantile(share))
                #expect(quantile <= histogram.mean / (1 - share) * 1.000001, "\(share)")
                #expect(quantile <= largest * 1.000001, "\(share)")
            }
            #expect(histogram.count - histogram.countOfValues(upTo: 1) <= UInt64(histogram.sum))
        }
    }

    @Test func singleValueIsExact() {
        var histogram = ExponentialHistogram([(0.0101, 1)], sum: 0.01, min: nil, max: nil)
        for share in [0, 0.5, 0.99, 1] { #expect(histogram.quantile(share) == 0.01) }
        histogram.merge(ExponentialHistogram([(0.0199, 1)], sum: 0.02, min: nil, max: 0.02))
        #expect(histogram.quantiles([0.5, 1], with: ExponentialHistogram()) == histogram.quantiles([0.5, 1]))
    }
}
