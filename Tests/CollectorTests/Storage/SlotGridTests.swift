import MartletStorage
import Testing

@Suite struct SlotGridTests {
    private static let second: UInt64 = 1_000_000_000
    private let nothingExpired = ExpiredTimes(fine: 0, minutes: 0)

    private func grid(_ from: UInt64, _ to: UInt64, step: UInt64, expired: ExpiredTimes? = nil) -> SlotGrid {
        SlotGrid(
            TimeWindow(from: from * Self.second, to: to * Self.second), step: step * Self.second,
            expired: expired ?? nothingExpired)
    }

    @Test func slotsEndAtMultiplesOfTheStepAndTheWindowCutsTheOuterOnes() {
        let grid = grid(25, 95, step: 30)
        #expect(grid.count == 4)
        #expect((0..<4).map { grid.window(ofSlot: $0).to / Self.second } == [30, 60, 90, 95])
        #expect((0..<4).map { grid.window(ofSlot: $0).from / Self.second } == [25, 30, 60, 90])
    }

    @Test func endBelongsToTheSlotThatItCloses() {
        let grid = grid(0, 90, step: 30)
        #expect([1, 30, 31, 60, 61, 90].map { grid.index(of: $0 * Self.second) } == [0, 0, 1, 1, 2, 2])
    }

    @Test func endOutsideTheWindowCountsAtItsEdge() {
        let grid = grid(30, 90, step: 30)
        #expect([0, 30, 91, 1000].map { grid.index(of: $0 * Self.second) } == [0, 0, 1, 1])
    }

    @Test func stepGrowsToTheFinestRemainingFigures() {
        let hoursOnly = ExpiredTimes(fine: 20_000 * Int64(Self.second), minutes: 10_000 * Int64(Self.second))
        #expect(grid(3600, 7200, step: 10, expired: hoursOnly).step == 3600 * Self.second)
        #expect(grid(3600, 7200, step: 3601, expired: hoursOnly).step == 7200 * Self.second)
        #expect(grid(14_400, 18_000, step: 90, expired: hoursOnly).step == 120 * Self.second)
        #expect(grid(21_600, 25_200, step: 10, expired: hoursOnly).step == 10 * Self.second)
    }

    @Test func slotsEndAtAGivenTime() {
        let grid = SlotGrid(
            TimeWindow(from: 25 * Self.second, to: 95 * Self.second), step: 30 * Self.second,
            endingAt: 85 * Self.second, expired: nothingExpired)
        #expect((0..<grid.count).map { grid.window(ofSlot: $0).to / Self.second } == [55, 85, 95])
        #expect((0..<grid.count).map { grid.window(ofSlot: $0).from / Self.second } == [25, 55, 85])
        #expect([26, 55, 56, 85, 86, 95].map { grid.index(of: $0 * Self.second) } == [0, 0, 1, 1, 2, 2])
        #expect(grid.granularity == 5 * Self.second)
    }

    @Test func givenEndMovesBackToTheFinestRemainingFigures() {
        let expired = ExpiredTimes(fine: 20_000 * Int64(Self.second), minutes: 0)
        let grid = SlotGrid(
            TimeWindow(from: 600 * Self.second, to: 1200 * Self.second), step: 120 * Self.second,
            endingAt: 1199 * Self.second, expired: expired)
        #expect(grid.finest == 60 * Self.second && grid.granularity == 60 * Self.second)
        #expect((0..<grid.count).map { grid.window(ofSlot: $0).to / Self.second } == [660, 780, 900, 1020, 1140, 1200])
    }

    @Test func extremesEndInOneSlotOrNone() {
        #expect(grid(10, 10, step: 1).count == 0)
        #expect(SlotGrid(TimeWindow(from: 0, to: .max), step: .max, expired: nothingExpired).count == 1)
        #expect(SlotGrid(TimeWindow(from: 0, to: .max), step: 7, endingAt: 3, expired: nothingExpired).count > 0)
        let hoursOnly = ExpiredTimes(fine: .max, minutes: .max)
        #expect(SlotGrid(TimeWindow(from: 0, to: .max), step: .max, expired: hoursOnly).count == 1)
        #expect(grid(0, 90, step: 0).step == 1)
    }
}
