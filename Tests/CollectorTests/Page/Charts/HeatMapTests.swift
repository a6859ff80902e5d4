import MartletTelemetry
import Testing

@testable import MartletPage

@Suite struct HeatMapTests {
    private func durations(_ seconds: [Double]) -> ExponentialHistogram {
        seconds.reduce(into: ExponentialHistogram()) { $0.record($1) }
    }

    @Test func requestIsInTheRowOfItsDuration() {
        let map = HeatMap([durations([0.1, 0.1, 0.2]), durations([0.7])])
        #expect(map.rows.map(\.text) == ["up to 128 ms", "128–256 ms", "256–512 ms", "512–1,024 ms"])
        #expect(map.counts == [[2, 1, 0, 0], [0, 0, 0, 1]])
    }

    @Test func noRequestIsLostIfDurationsSpanMoreThanTheRows() {
        let many = durations(Array(repeating: 0.1, count: 5000) + (0..<30).map { 0.000_001 * Double(1 << $0) })
        let map = HeatMap([many, durations([])])
        #expect(map.rows.count == HeatMap.maxRows)
        #expect(map.counts[0].reduce(0, +) == 5030)
        #expect(map.counts[1].reduce(0, +) == 0)
        #expect(map.rows.first?.lower == nil)
        #expect(map.rows.last?.upper == nil)
        #expect(map.rows.last?.text.hasPrefix("more than ") == true)
    }

    @Test func rowsWithTheMostRequestsAreShownAndOnATieTheSlowest() {
        let map = HeatMap([durations(Array(repeating: 0.003, count: 199) + [0.000_000_1, 3000])])
        #expect(map.rows.first?.text == "up to 4 ms")
        #expect(map.rows.last?.text == "more than 4,096 ms")
        #expect(map.counts[0] == [200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    }

    /// The fast requests are connections that are refused at once.
    @Test func slowRequestsKeepTheirRowsAmongManyFastOnes() {
        let refused = [0.000_2, 0.000_3, 0.000_6, 0.001_2].flatMap { Array(repeating: $0, count: 500) }
        let slow = [0.6, 1.2, 2.1].flatMap { Array(repeating: $0, count: 60) }
        let map = HeatMap([durations(refused + slow)])
        #expect(map.rows.suffix(3).map(\.text) == ["512–1,024 ms", "1,024–2,048 ms", "2,048–4,096 ms"])
        #expect(map.counts[0].suffix(3) == [60, 60, 60])
    }

    @Test func colourStepsDistinguishSmallCounts() {
        let map = HeatMap([durations(Array(repeating: 0.1, count: 45)), durations([0.1]), durations([0.1, 0.1])])
        #expect(map.legend.map(\.text) == ["1", "2–5", "6–11", "12–20", "21–31", "32–45"])
        #expect([0, 1, 2, 5, 6, 45].map(map.level) == [0, 1, 2, 2, 3, 6])
    }

    @Test func unusedColourStepsAreLeftOut() {
        let map = HeatMap([durations([0.1])])
        #expect(map.legend.map(\.text) == ["1"])
        #expect(map.level(of: 1) == 6)
    }

    @Test func emptySlotsHaveNoRows() {
        let map = HeatMap([durations([]), ExponentialHistogram()])
        #expect(map.rows.isEmpty)
        #expect(map.counts == [[], []])
        #expect(HeatMap([]).counts.isEmpty)
    }

    @Test(arguments: [-10, -2, 0, 20] as [Int32])
    func durationsAtEveryScaleAreCounted(scale: Int32) throws {
        let coarse = try #require(
            ExponentialHistogram(
                scale: scale, sum: 1e9, min: nil, max: nil, zeroCount: 3, offset: -1, buckets: [5, 0, 7]))
        let map = HeatMap([coarse])
        #expect(map.counts[0].reduce(0, +) == 15)
        #expect((1...HeatMap.maxRows).contains(map.rows.count))
    }
}
