import Testing

@testable import MartletPage
@testable import MartletReports

@Suite struct WaterfallAxisTests {
    private static let examples: [(end: Double, ticks: [Double])] = [
        (1402, [0, 500, 1000]), (290, [0, 100, 200]), (12.6, [0, 5, 10]), (0.3, [0, 0.1, 0.2, 0.3]), (5, [0, 2, 4]),
        (4.9, [0, 2, 4]),
    ]

    @Test(arguments: examples)
    func ticksAreRoundTimes(end: Double, ticks: [Double]) {
        let drawn = WaterfallAxis(upTo: end).ticks
        #expect(drawn.count == ticks.count)
        #expect(zip(drawn, ticks).allSatisfy { abs($0 - $1) < 1e-9 }, "\(drawn)")
    }

    @Test(arguments: [0, -1, .nan, .infinity, 1e-300, 1e300])
    func axisWithANonsensicalEndHasFewTicks(end: Double) {
        let axis = WaterfallAxis(upTo: end)
        #expect(axis.scale.isFinite && axis.scale > 0)
        #expect((1...6).contains(axis.ticks.count))
        #expect(axis.share(end.isFinite ? end : 1) <= 1)
    }

    @Test(arguments: [.nan, .infinity, -.infinity, -5, 1e300] as [Double])
    func nonsensicalTimeStaysOnTheAxis(time: Double) {
        #expect((0...1).contains(WaterfallAxis(upTo: 10).share(time)))
    }

    @Test func onlyTheLastLabelHasTheUnit() {
        let head = String(decoding: WaterfallAxis(upTo: 1402).head.bytes, as: UTF8.self)
        #expect(head.contains(">0</text>") && head.contains(">500</text>") && head.contains(">1,000 ms</text>"))
    }
}
