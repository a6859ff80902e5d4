import Testing

@testable import MartletReports

@Suite struct TrendTests {
    @Test func aTrendBeginsAtZeroAndEndsAtTheLargest() {
        #expect(Sparkline.text([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█")
        #expect(Sparkline.text([0, 0, 0]) == "▁▁▁")
        #expect(Sparkline.text([5, 5, 5, 5]) == "████")
    }

    @Test func neighboursShareABlock() {
        let figures = (0..<60).map { Double($0 / 30) }
        #expect(Sparkline.text(figures) == "▁▁▁▁████")
    }

    @Test func twoFiguresAreNoTrend() {
        for figures in [[], [1], [1, 2]] as [[Double]] {
            #expect(Sparkline.text(figures) == "too few")
        }
    }

    @Test func noFigureEndsTheProgram() {
        let figures: [Double] = [-1, .infinity, -.infinity, .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0]
        #expect(Sparkline.text(figures) == "▁█▁▁█▁▁")
        #expect(Sparkline.text(Array(repeating: .greatestFiniteMagnitude, count: 100)).count == 8)
    }

    @Test(arguments: [
        (0, ""), (0.0001, "▏"), (0.5, "█▌"), (1, "███"), (2, "███"), (0.04, "▏"), (0.34, "█"),
    ])
    func aBarHasAnEighthForEveryShareThatIsNotZero(share: Double, bar: String) {
        #expect(ShareBar.text(share, full: 1) == bar)
    }
}
