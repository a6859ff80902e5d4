import MartletStorage
import Testing

@testable import MartletReports

@Suite struct ComparedSlotsTests {
    private static let minute: UInt64 = 60_000_000_000
    /// A full hour.
    private static let end = 495_000 * 60 * minute

    /// - Parameter late: the time from a full hour to the window's end, in nanoseconds.
    private func slots(_ minutes: UInt64, _ base: ComparisonBase = .previous, late: UInt64 = 0) -> ComparedSlots {
        let end = Self.end + late
        return ComparedSlots(TimeWindow(from: end - minutes * Self.minute, to: end), base)
    }

    /// Minutes before ``end``.
    private func minutes(_ window: TimeWindow) -> [Int] {
        [window.from, window.to].map { Int(Int64($0) - Int64(Self.end)) / Int(Self.minute) }
    }

    @Test(
        arguments: [
            (1, 1, 1), (10, 1, 10), (59, 1, 59), (60, 3, 20), (360, 3, 120), (363, 6, 60), (1440, 30, 48),
            (7 * 1440, 180, 56), (30 * 1440, 900, 48),
        ] as [(UInt64, Int, Int)])
    func slotsAreMinutesThenSummariesThenPartsOfLongWindows(window: UInt64, step: Int, length: Int) {
        let slots = slots(window)
        #expect(slots.stepMinutes == step && slots.length == length)
        #expect(slots.pastsCount == (window <= 360))
        #expect(slots.needMinutes == (60...360).contains(window))
    }

    @Test func windowsBeginAndEndAtTheNearestSlots() {
        let late = slots(60, late: 100_000_000_000)
        #expect(minutes(late.after) == [-57, 3] && late.length == 20)
        #expect(minutes(slots(10, late: 20_000_000_000).after) == [-10, 0])
        // A window of seconds is a minute long.
        let short = ComparedSlots(TimeWindow(from: Self.end - 1_000_000_000, to: Self.end), .previous)
        #expect(minutes(short.after) == [-1, 0] && short.length == 1)
    }

    @Test func slotsReachBackToThePastOrToTheWindowBefore() {
        #expect(minutes(slots(10).before) == [-60, -10])
        #expect(minutes(slots(40).before) == [-80, -40])
        #expect(minutes(slots(60).before) == [-120, -60])
        // Pasts do not count for long windows.
        #expect(minutes(slots(1440).before) == [-2880, -1440])
    }

    @Test func otherWindowsAreAsLongAndHaveNoPast() throws {
        let day = slots(10, try ComparisonBase("day"))
        #expect(minutes(day.before) == [-1450, -1440] && !day.pastsCount && !day.isContiguous && day.isLater)
        let versions = slots(10, .versions(before: "1", after: "2"))
        #expect(versions.before == versions.after && !versions.pastsCount && !versions.isLater)
    }

    @Test func aHistoryGoesOnInFinerSlots() {
        func slot(_ count: Double) -> [Double] { [count, count / 3, 0, 0, 0] }
        let past = RowHistory(slotMinutes: 3, first: 100, slots: [slot(0), slot(30), slot(60), slot(90)])
        let minutes = Array(repeating: slot(9), count: 4)
        // The minutes begin with the last slot of the past.
        let all = past.continued(with: minutes, first: 309, slotMinutes: 1, taking: 100)
        #expect(all.first == 303 && all.count == 10)
        #expect(all.counts(.failures, to: 1, slots: 1) == SignalCounts(10.0 / 3, of: 10))
        #expect(all.counts(.failures, to: 6, slots: 6).all == 90)
        #expect(all.counts(.failures, to: 10, slots: 4).all == 36)
        #expect(past.continued(with: minutes, first: 309, slotMinutes: 1, taking: 3).count == 7)
        let later = past.continued(with: [slot(3)], first: 104, slotMinutes: 3, taking: 100)
        #expect(later.first == 101 && later.counts(.failures, to: 4, slots: 4).all == 183)
    }
}
