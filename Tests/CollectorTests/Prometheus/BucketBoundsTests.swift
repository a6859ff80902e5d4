import Fixtures
import Foundation
import MartletPrometheus
import MartletTelemetry
import Testing

@Suite struct BucketBoundsTests {
    private static let bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 1]

    private func counts(_ sketch: ExponentialHistogram, between bounds: [Double] = bounds) -> [UInt64] {
        var counts = [UInt64](repeating: 0, count: bounds.count + 1)
        BucketBounds(bounds).add(sketch, to: &counts)
        return counts
    }

    private func sketch(_ values: [Double]) -> ExponentialHistogram {
        values.reduce(into: ExponentialHistogram()) { $0.record($1) }
    }

    @Test func everyValueIsCountedOnceInItsBucket() {
        var random = SeededGenerator(seed: 11)
        // No value is so close to a bound that the middle of its bucket may be on the bound's other side.
        let values =
            (0..<5000).map { _ in exp(Double.random(in: -7...1, using: &random)) }
            .filter { value in Self.bounds.allSatisfy { abs(value / $0 - 1) > 0.003 } } + [0, 0, 7]
        var expected = [UInt64](repeating: 0, count: Self.bounds.count + 1)
        for value in values { expected[Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count] += 1 }
        #expect(counts(sketch(values)) == expected)
        #expect(expected.allSatisfy { $0 > 0 })
    }

    @Test func valuesEqualToABoundCountBelowItIfThereAreNoOthers() {
        #expect(counts(sketch([0.1, 0.1]), between: [0.05, 0.1, 0.25]) == [0, 2, 0, 0])
    }

    /// Compares the count of each bucket with a direct search, for any scale and any range of values.
    @Test func sketchBucketCountsAtItsMiddleWithinTheRange() throws {
        var random = SeededGenerator(seed: 12)
        for _ in 0..<2000 {
            let scale = Int32.random(in: -10...20, using: &random)
            let offset = Int32(scalbn(Double.random(in: -10...3, using: &random), Int(scale)))
            let buckets = (0..<Int.random(in: 0...50, using: &random)).map { _ in
                UInt64.random(in: 0...3, using: &random)
            }
            let range = (0..<2).map { _ in Bool.random(using: &random) ? Double.random(in: 0...2, using: &random) : nil
            }
            let values = buckets.indices.map { index in
                let middle = exp2(scalbn(Double(offset) + Double(index) + 0.5, -Int(scale)))
                return min(max(middle, range[0] ?? 0), range[1] ?? .infinity)
            }
            let sum = zip(values, buckets).reduce(0) { $0 + min($1.0, 1e300) * Double($1.1) }
            let sketch = try #require(
                ExponentialHistogram(
                    scale: scale, sum: sum, min: range[0], max: range[1],
                    zeroCount: range[0] == nil ? UInt64.random(in: 0...1, using: &random) : 0,
                    offset: offset, buckets: buckets))
            var expected = [UInt64](repeating: 0, count: Self.bounds.count + 1)
            expected[0] = sketch.zeroCount
            for (value, count) in zip(values, buckets) {
                expected[Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count] += count
            }
            #expect(counts(sketch) == expected)
        }
    }
}
