import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletPage

@Suite struct TimeSlotTests {
    /// Returns slots of a minute, each with a number of requests.
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

    @Test func theBusiestSlotIsAWholeOne() {
        let busiest = TimeSlot.busiest(of: slots([600, 60, 120, 60, 600]))
        #expect(busiest?.window.from == Samples.time(120))
        #expect(busiest?.measures?.perSecond == 2)
    }

    @Test func noSlotIsTheBusiestIfReportsAreFurtherApartThanSlots() {
        #expect(TimeSlot.busiest(of: slots([60, 120, 0, 120, 0, 120, 60])) == nil)
    }

    @Test func twoSlotsHaveNoBusiestOne() {
        #expect(TimeSlot.busiest(of: slots([60, 60])) == nil)
    }
}
