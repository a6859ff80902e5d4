import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletPage

@Suite struct TimeAxisTests {
    /// A window that begins on 2026-11-21 at 09:00:00.
    private func window(_ seconds: UInt64, after start: UInt64 = 0) -> TimeWindow {
        let from = (1_795_251_600 + start) * 1_000_000_000
        return TimeWindow(from: from, to: from + seconds * 1_000_000_000)
    }

    @Test func hourIsMarkedEveryQuarter() {
        let ticks = TimeAxis(window(3600)).ticks
        #expect(ticks.map(\.label) == ["09:00", "09:15", "09:30", "09:45", "10:00"])
        #expect(ticks.map(\.x) == [0, 0.25, 0.5, 0.75, 1])
        #expect(ticks.map(\.anchor) == [.start, .middle, .middle, .middle, .end])
    }

    @Test func marksAreAtRoundTimesWhereverTheWindowBegins() {
        let ticks = TimeAxis(window(3600, after: 277)).ticks
        #expect(ticks.map(\.label) == ["09:15", "09:30", "09:45", "10:00"])
    }

    @Test func midnightAndWholeDaysAreLabelledWithTheirDate() {
        #expect(TimeAxis(window(86_400)).ticks.map(\.label) == ["12:00", "18:00", "22 Nov", "06:00"])
        #expect(TimeAxis(window(7 * 86_400)).ticks.map(\.label) == ["23 Nov", "25 Nov", "27 Nov"])
    }

    @Test func timeOutsideTheWindowIsAtTheEdge() {
        let axis = TimeAxis(window(60))
        #expect([0, UInt64.max].map(axis.x) == [0, 1])
        #expect(TimeAxis(window(0)).ticks.isEmpty)
        #expect(TimeAxis(window(0)).x(5) == 0)
    }

    @Test func partOfALongWindowIsNamedWithItsDay() {
        #expect(ClockText.range(window(120), in: window(3600)) == "09:00–09:02")
        #expect(ClockText.range(window(10), in: window(60)) == "09:00–09:00:10")
        #expect(ClockText.range(window(3600), in: window(90_000)) == "21 Nov, 09:00–10:00")
        #expect(ClockText.minutes(window(90, after: 5), in: window(3600)) == "09:00–09:01")
        #expect(ClockText.moment(window(0, after: 70).from, in: window(90_000)) == "21 Nov, 09:01")
        #expect(ClockText.moment(window(0, after: 70).from, in: window(3600)) == "09:01:10")
        #expect(ClockText.range(window(86_400), in: window(90_000)) == "21 Nov, 09:00–22 Nov, 09:00")
    }

    @Test func marksThatAreCloseTogetherShareALabel() {
        let labels = TimeMark.labels(of: [("b", 0.15), ("a", 0.1), ("c", 0.6)])
        #expect(labels.map(\.label) == ["a and 1 more", "c"])
        #expect(labels.map(\.x) == [0.1, 0.6])
    }

    @Test func shortSlotAtTheEdgeIsJoinedToItsNeighbour() {
        let grid = SlotGrid(window(125, after: 55), step: 60_000_000_000, expired: ExpiredTimes(fine: 0, minutes: 0))
        #expect(grid.count == 3)
        let dimensions = Samples.dimensions()
        let groups = (0..<grid.count).map {
            Samples.group([], [(dimensions, Samples.statistics(Array(repeating: 1, count: $0 + 1)))])
        }
        let slots = TimeSlot.all(of: [0], in: GroupSlots(grid: grid, groups: [groups]))
        #expect(slots.map(\.window.seconds) == [65, 60])
        #expect(slots.map { $0.measures?.count } == [3, 3])
    }
}
