import Testing

@testable import MartletReports

@Suite struct TrendTests {
    @Test func trendIsScaledFromZeroToTheLargestFigure() {
        #expect(Sparkline.text([0, 1, 2, 3, 4, 5, 6, 7]) == "▁▂▃▄▅▆▇█")
        #expect(Sparkline.text([0, 0, 0]) == "▁▁▁")
        #expect(Sparkline.text([5, 5, 5, 5]) == "████")
    }

    @Test func neighboursShareABlockIfThereAreManyFigures() {
        let figures = (0..<60).map { Double($0 / 30) }
        #expect(Sparkline.text(figures) == "▁▁▁▁████")
    }

    @Test func twoFiguresAreNotATrend() {
        for figures in [[], [1], [1, 2]] as [[Double]] {
            #expect(Sparkline.text(figures) == "–")
        }
    }

    @Test func noFigureCrashesTheProgram() {
        let figures: [Double] = [-1, .infinity, -.infinity, .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0]
        #expect(Sparkline.text(figures) == "▁█▁▁█▁▁")
        #expect(Sparkline.text(Array(repeating: .greatestFiniteMagnitude, count: 100)).count == 8)
    }

    private func report(_ from: String, _ to: String, step: Double?, latest: String? = nil, slots: Int) -> Report {
        var row = SampleReport.report.rows[0]
        row.trend = ReportRow.Trend(count: Array(repeating: 0, count: slots), failed: [])
        var report = SampleReport.report
        (report.from, report.to, report.step, report.rows) =
            ("2026-11-21T\(from)Z", "2026-11-21T\(to)Z", step, [row])
        report.totals.lastSeen = latest.map { "2026-11-21T\($0)Z" }
        return report
    }

    @Test func slotsCutToAFewSecondsAreNotADropInTheTrend() {
        let report = report("09:00:03", "09:02:03", step: 10, slots: 13)
        let rates = TrendSlots(of: report).rates(of: [7] + Array(repeating: 20, count: 11) + [1])
        #expect(rates == Array(repeating: 2, count: 11))
    }

    @Test func longSlotCutByTheWindowIsDrawnAsARate() {
        // The first slot has 5 of its 6 minutes. The last one has 2, which are too few for a separate rate.
        let report = report("09:01:00", "10:02:00", step: 360, slots: 11)
        let rates = TrendSlots(of: report).rates(of: [300] + Array(repeating: 360, count: 9) + [120])
        #expect(rates == Array(repeating: 1, count: 10))
    }

    @Test func requestsStillOnTheirWayAreNotADropInTheTrend() {
        // The latest interval that arrived ended 15 s before the window did.
        let counts: [UInt64] = Array(repeating: 360, count: 9) + [345]
        let late = report("09:00:00", "10:00:00", step: 360, latest: "09:59:45", slots: 10)
        #expect(TrendSlots(of: late).rates(of: counts) == Array(repeating: 1, count: 10))
        // Traffic that ended half an hour ago is a drop.
        let ended = report("09:00:00", "10:00:00", step: 360, latest: "09:30:00", slots: 10)
        #expect(TrendSlots(of: ended).rates(of: [360, 360, 360, 360, 360, 0, 0, 0, 0, 0]).last == 0)
    }

    @Test func slotsWithUnknownTimesAreDrawnUnchanged() {
        let counts: [UInt64] = [1, 5, 5]
        for step in [nil, 0, -1, .nan, .infinity, 1e300, 1e-9] as [Double?] {
            let report = report("09:00:05", "09:00:25", step: step, slots: 3)
            #expect(TrendSlots(of: report).rates(of: counts) == [1, 5, 5])
        }
        let short = report("09:00:05", "09:00:08", step: 10, slots: 1)
        #expect(TrendSlots(of: short).rates(of: [3]) == [3])
        #expect(TrendSlots(of: short).rates(of: counts) == [1, 5, 5])
    }

    @Test func cutSlotUnderAMinuteIsMergedIntoItsNeighbour() {
        let report = report("09:00:05", "09:05:20", step: 30, slots: 11)
        let rates = TrendSlots(of: report).rates(of: [25] + Array(repeating: 30, count: 9) + [20])
        #expect(rates == Array(repeating: 1, count: 9))
    }

    @Test func requestsOnlyInAnOmittedPartAreShown() {
        let report = report("09:00:03", "09:00:43", step: 10, slots: 5)
        #expect(TrendSlots(of: report).rates(of: [0, 0, 0, 0, 7]) == [0, 0, 0, 0, 7])
        #expect(TrendSlots(of: report).rates(of: [0, 0, 0, 0, 0]).allSatisfy { $0 == 0 })
    }

    @Test(arguments: [
        (0, ""), (0.0001, "▏"), (0.5, "█▌"), (1, "███"), (2, "███"), (0.04, "▏"), (0.34, "█"),
    ])
    func barHasAtLeastAnEighthForEveryShareAboveZero(share: Double, bar: String) {
        #expect(ShareBar.text(share, full: 1) == bar)
    }
}
