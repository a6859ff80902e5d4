import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletPage

@Suite struct TimeSlotTests {
    /// Returns slots of a minute, each with the given number of requests.
    private func slots(_ counts: [Int]) -> [TimeSlot] {
        counts.enumerated().map { index, count in
            var group = RequestGroup(values: [])
            group.add(RequestClass(Samples.dimensions())) {
                $0 = Samples.statistics(Array(repeating: 0.1, count: count))
            }
            let start = UInt64(60 * index)
            return TimeSlot(TimeWindow(from: Samples.time(start), to: Samples.time(start + 60)), group)
        }
    }

    @Test(arguments: [0, 2, 4]) func anySlotCanBeTheBusiest(index: Int) {
        var counts = [60, 60, 90, 60, 60]
        counts[index] = 120
        let busiest = TimeSlot.busiest(of: slots(counts))
        #expect(busiest?.window.from == Samples.time(UInt64(60 * index)))
        #expect(busiest?.measures?.perSecond == 2)
    }

    @Test func rateOfACutSlotUsesTheLengthOfAWholeSlot() {
        var slots = slots([60, 60, 120, 60, 110])
        slots[4] = TimeSlot(TimeWindow(from: Samples.time(240), to: Samples.time(270)), slots[4].group)
        #expect(TimeSlot.busiest(of: slots)?.window.from == Samples.time(120))
    }

    @Test func noSlotIsTheBusiestIfReportsAreRarerThanSlots() {
        #expect(TimeSlot.busiest(of: slots([60, 120, 0, 120, 0, 120, 60])) == nil)
    }

    @Test func noneOfTwoSlotsIsTheBusiest() {
        #expect(TimeSlot.busiest(of: slots([60, 60])) == nil)
    }
}
