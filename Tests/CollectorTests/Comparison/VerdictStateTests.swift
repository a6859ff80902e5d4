import Testing

@testable import MartletReports

@Suite struct VerdictStateTests {
    private let found = VerdictConstants.rowLevel
    private let weak = VerdictConstants.stay
    private let nothing = 0.5

    /// - Parameter pValues: the results of the last moments, the latest last.
    private func isWorse(_ pValues: [Double], moments: Int = 10) -> Bool {
        VerdictState.isWorse(moments: moments) { ago in
            ago < pValues.count ? pValues[pValues.count - 1 - ago] : nothing
        }
    }

    @Test func aRowStaysWorseUntilThreeMomentsSayNothing() {
        #expect(isWorse([found]))
        #expect(isWorse([found, weak, weak, weak]))
        #expect(isWorse([found, nothing, nothing]))
        #expect(isWorse([found, nothing, nothing, weak, nothing, nothing]))
        #expect(!isWorse([found, nothing, nothing, nothing]))
        #expect(!isWorse([found, nothing, nothing, nothing, weak]))
    }

    @Test func aRowThatWasNeverFoundIsNotWorse() {
        #expect(!isWorse([weak, weak, weak, weak]))
        #expect(!isWorse([nothing]))
    }

    @Test func aRowIsNotWorseBecauseOfAChangeThatLeftItsWindow() {
        let weak = [Double](repeating: weak, count: 10)
        #expect(isWorse([found] + weak, moments: 11))
        #expect(!isWorse([found] + weak, moments: 10))
    }

    /// Most rows of a page are unchanged, so they have to be cheap.
    @Test func anUnchangedRowIsLookedAtThreeTimes() {
        var moments: [Int] = []
        _ = VerdictState.isWorse(moments: 60) {
            moments.append($0)
            return nothing
        }
        #expect(moments == [0, 1, 2])
    }

    /// A page is reloaded each minute after a change that is near the limit of what is found.
    @Test func aVerdictStaysWhileTheWindowHasTheBeginning() {
        var (found, flaps) = (0, (without: 0, with: 0))
        for seed: UInt64 in 0..<10 {
            let row = PatternedRow(minutes: 1500, .init(failing: 60, minutes: 1450..<1500), seed: seed)
            let noise = RowNoise(row.history, before: 1440, windowMinutes: 30)
            let verdicts = (1455...1479).map { end in
                let windows = row.windows(30, end: end, noise: noise)
                let verdict = RowVerdict(windows)
                return (now: verdict.answer == .worse, held: windows.isWorse(verdict))
            }
            flaps.without += zip(verdicts, verdicts.dropFirst()).count { $0.now && !$1.now }
            flaps.with += zip(verdicts, verdicts.dropFirst()).count { $0.held && !$1.held }
            found += verdicts.contains { $0.held } ? 1 : 0
        }
        #expect(found >= 8)
        #expect(flaps.without > 0)
        #expect(flaps.with == 0)
    }
}
