import Testing

@testable import MartletPage

@Suite struct ValueScaleTests {
    @Test func linearAxisGoesFromZeroToARoundNumberAboveAllValues() {
        let scale = ValueScale.linear([0.3, 0.86], top: 18, bottom: 74)
        #expect(scale.ticks.map(\.value) == [0, 0.5, 1])
        #expect(scale.ticks.map(\.y) == [74, 46, 18])
        #expect(scale.y(0.25) == 60)
    }

    @Test func axisWithoutValuesGoesToOne() {
        #expect(ValueScale.linear([0, 0], top: 18, bottom: 74).ticks.map(\.value) == [0, 0.5, 1])
    }

    @Test func labelsOfSmallValuesAreShort() {
        let scale = ValueScale.linear([1e-7], top: 10, bottom: 72)
        #expect(scale.ticks.map { Figure.tick($0.value) } == ["0", "0.0001", "0.0002", "0.0003"])
        let failed = ValueScale.linear([1e-7], top: 10, bottom: 72, least: 0.005)
        #expect(failed.ticks.map { Figure.tick($0.value) } == ["0", "0.002", "0.004", "0.006"])
    }

    @Test func equalDistancesOnALogarithmicAxisAreEqualFactors() {
        let scale = ValueScale.logarithmic([61, 1806], top: 0, bottom: 100)
        #expect(scale.ticks.map(\.value) == [50, 100, 200, 500, 1000, 2000])
        #expect(abs((scale.y(100) - scale.y(200)) - (scale.y(1000) - scale.y(2000))) < 1e-9)
        #expect(scale.y(50) == 100)
        #expect(scale.y(2000) == 0)
    }

    @Test func manyPowersOfTenGetFewLabels() {
        let scale = ValueScale.logarithmic([0.001, 1e9], top: 0, bottom: 100)
        #expect(scale.ticks.map(\.value) == [0.001, 0.1, 10, 1000, 1e5, 1e7, 1e9])
    }

    @Test(arguments: [[], [0], [.nan], [.infinity, 3], [-1], [1e308, .leastNonzeroMagnitude], [5, 5]] as [[Double]])
    func oddValuesStayOnTheAxis(values: [Double]) {
        for scale in [
            ValueScale.linear(values, top: 10, bottom: 100), ValueScale.logarithmic(values, top: 10, bottom: 100),
        ] {
            #expect(!scale.ticks.isEmpty && scale.ticks.count < 10)
            for value in values + [.nan, .infinity, -.infinity, 0] {
                #expect((10...100).contains(scale.y(value)), "\(value)")
            }
        }
    }

    @Test func namesAtTheEndsOfLinesDoNotOverlap() {
        let ends = [Plot.End(label: "p50", y: 148), Plot.End(label: "p99", y: 20), Plot.End(label: "p95", y: 145)]
        let spread = Plot.spread(ends, gap: 12, within: 150)
        #expect(spread.map(\.label) == ["p99", "p95", "p50"])
        #expect(zip(spread, spread.dropFirst()).allSatisfy { $1.y - $0.y >= 12 })
        #expect(spread.allSatisfy { $0.y <= 150 })
    }

    @Test func axisLabelsHaveNoTrailingZeros() {
        #expect([0, 0.5, 0.05, 5, 150, 2000].map(Figure.tick) == ["0", "0.5", "0.05", "5", "150", "2,000"])
        #expect([0.5, 50, 1000, 2000].map(Figure.tickOfTime) == ["0.5", "50", "1 s", "2 s"])
    }
}
