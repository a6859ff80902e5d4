import Testing

@testable import MartletReports

@Suite struct TrendTests {
    @Test func aTrendBeginsAtZeroAndEndsAtTheLargest() {
        #expect(Sparkline.text([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█")
        #expect(Sparkline.text([0, 0, 0]) == "▁▁▁")
        #expect(Sparkline.text([5, 5, 5, 5]) == "████")
    }

    @Test func aMissingSlotIsBlank() {
        #expect(Sparkline.text([7, nil, 0, 7]) == "█ ▁█")
        #expect(Sparkline.text([nil, 7, 7, .nan, 7, nil]) == " ██ █ ")
    }

    @Test func neighboursShareABlock() {
        let figures = (0..<60).map { Double($0 / 30) } as [Double?]
        #expect(Sparkline.text(figures) == "▁▁▁▁████")
        let gap = (0..<80).map { (20..<30).contains($0) ? nil : 1.0 }
        #expect(Sparkline.text(gap) == "██ █████")
    }

    @Test func twoFiguresAreNoTrend() {
        for figures in [[], [nil], [1, 2], [1, nil, 2, nil]] as [[Double?]] {
            #expect(Sparkline.text(figures) == "too few")
        }
    }

    @Test func noFigureEndsTheProgram() {
        let figures: [Double?] = [-1, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0]
        #expect(Sparkline.text(figures) == "▁  █▁▁")
        #expect(Sparkline.text(Array(repeating: .greatestFiniteMagnitude, count: 100)).count == 8)
    }

    @Test(arguments: [
        (0, ""), (0.0001, "▏"), (0.5, "█▌"), (1, "███"), (2, "███"), (0.04, "▏"), (0.34, "█"),
    ])
    func aBarHasAnEighthForEveryShareThatIsNotZero(share: Double, bar: String) {
        #expect(ShareBar.text(share, full: 1) == bar)
    }
}
