import MartletTelemetry
import Testing

@Suite struct ExponentialHistogramTests {
    /// Returns deterministic values spread over six orders of magnitude.
    static func values(_ n: Int, seed: UInt64 = 7) -> [Double] {
        var state = seed
        return (0..<n).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let uniform = Double(state >> 11) / Double(1 << 53)
            return 1e-5 * Double.init(sign: .plus, exponent: Int(uniform * 20), significand: 1 + uniform)
        }
    }

    static func histogram(_ values: [Double], scale: Int32 = ExponentialHistogram.defaultScale) -> ExponentialHistogram
    {
        var histogram = ExponentialHistogram(scale: scale)
        for value in values { histogram.record(value) }
        return histogram
    }

    @Test(arguments: [0.01, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999])
    func quantileIsWithinHalfAPercentOfTheExactValue(q: Double) throws {
        let values = Self.values(10_000)
        let exact = values.sorted()[Int((q * 10_000).rounded(.up)) - 1]
        let estimate = try #require(Self.histogram(values).quantile(q))
        #expect(abs(estimate / exact - 1) < 0.005)
    }

    @Test func anyCountHasQuantiles() throws {
        // Rounded to a Double, the count is larger than any UInt64.
        let histogram = try #require(
            ExponentialHistogram(
                scale: 0, sum: 1, min: nil, max: nil, zeroCount: 0, offset: 0, buckets: [UInt64.max - 1, 1]))
        for q in [0, 0.5, 1] { #expect((histogram.quantile(q) ?? .nan).isFinite) }
    }

    @Test func largestValueIsExact() {
        let values = Self.values(1000)
        #expect(Self.histogram(values).quantile(1) == values.max())
        #expect(Self.histogram(values).min == values.min())
    }

    @Test func mergingEqualsRecordingEverythingInOneHistogram() {
        let values = Self.values(5000)
        var merged = Self.histogram(Array(values[..<1234]))
        merged.merge(Self.histogram(Array(values[1234...])))
        let whole = Self.histogram(values)
        #expect(merged.buckets == whole.buckets)
        #expect(merged.offset == whole.offset)
        #expect(merged.count == whole.count)
        #expect(merged.max == whole.max)
        #expect(abs(merged.sum - whole.sum) < 1e-9 * whole.sum)
    }

    @Test func twoScalesJoinedEqualRecordingAtTheCoarserOne() {
        let values = Self.values(2000)
        var mixed = Self.histogram(Array(values[..<1000]), scale: 7)
        mixed.merge(Self.histogram(Array(values[1000...]), scale: 3))
        let (merged, whole) = (mixed.joined, Self.histogram(values, scale: 3))
        #expect(mixed.scale == 7 && merged.scale == 3)
        #expect(merged.buckets == whole.buckets)
        #expect(merged.offset == whole.offset)
    }

    @Test func anEmptyHistogramKeepsItsCoarserScale() {
        let values = Self.values(100)
        var merged = Self.histogram([], scale: 3)
        merged.merge(Self.histogram(values, scale: 7))
        #expect(merged == Self.histogram(values, scale: 3))
    }

    @Test func valuesTooFarApartLowerTheScaleInsteadOfGrowingWithoutBound() throws {
        var histogram = ExponentialHistogram()
        histogram.record(1e-300)
        histogram.record(1e300)
        #expect(histogram.buckets.count <= ExponentialHistogram.maxBuckets)
        #expect(histogram.scale < ExponentialHistogram.defaultScale)
        #expect(histogram.count == 2)

        let far = try #require(
            ExponentialHistogram(
                scale: 20, sum: 1, min: nil, max: nil, zeroCount: 0, offset: 1_000_000_000, buckets: [1]))
        histogram.merge(far)
        #expect(histogram.buckets.count <= ExponentialHistogram.maxBuckets)
        #expect(histogram.count == 3)
    }

    @Test func zeroNegativeAndNonFiniteValuesAreHandled() {
        let histogram = Self.histogram([0, -1, .nan, .infinity, 1])
        #expect(histogram.count == 3)
        #expect(histogram.zeroCount == 2)
        #expect(histogram.quantile(0.5) == 0)
        #expect(ExponentialHistogram().quantile(0.5) == nil)
    }

    @Test func impossibleHistogramIsRefused() {
        func make(scale: Int32 = 3, sum: Double = 1, offset: Int32 = 0, buckets: [UInt64] = [1])
            -> ExponentialHistogram?
        {
            ExponentialHistogram(
                scale: scale, sum: sum, min: nil, max: nil, zeroCount: 0, offset: offset, buckets: buckets)
        }
        #expect(make() != nil)
        #expect(make(scale: 21) == nil)
        #expect(make(sum: .nan) == nil)
        #expect(make(offset: .max) == nil)
        #expect(make(offset: .min) == nil)
        #expect(make(buckets: [.max, 1]) == nil)
        #expect(make(buckets: Array(repeating: 0, count: 5000)) == nil)
    }

    @Test func valuesUpToABoundAreCounted() {
        let histogram = Self.histogram([0.1, 0.2, 0.49, 0.6, 3])
        #expect(histogram.countOfValues(upTo: 0.5) == 3)
        #expect(histogram.countOfValues(upTo: 2) == 4)
        #expect(histogram.countOfValues(upTo: 10) == 5)
        #expect(histogram.countOfValues(upTo: .infinity) == 5)
        #expect(histogram.countOfValues(upTo: .nan) == 0)
    }

    @Test func quantilesOfTwoHistogramsAreThoseOfTheirSum() {
        let shares = [0, 0.001, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1]
        let values = Self.values(600)
        let ends = [1e-300, 1e300]
        var histograms = [
            ExponentialHistogram(), Self.histogram([0, 0, -1]), Self.histogram([0.25]), Self.histogram(values),
            Self.histogram(Array(values.prefix(70))), Self.histogram(values.map { $0 * 1e6 } + [0]),
            Self.histogram(values, scale: 3), Self.histogram(values, scale: 10), Self.histogram(ends),
        ]
        histograms += [
            ExponentialHistogram(
                scale: 7, sum: 9, min: nil, max: nil, zeroCount: 2, offset: -40, buckets: [0, 3, 0, 4, 0]),
            ExponentialHistogram(scale: 7, sum: 9, min: nil, max: nil, zeroCount: 0, offset: 0, buckets: []),
        ].compactMap { $0 }
        for one in histograms {
            for other in histograms {
                var sum = one
                sum.merge(other)
                #expect(one.quantiles(shares, with: other) == sum.quantiles(shares))
            }
        }
    }
}
