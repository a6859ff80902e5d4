import Testing

@testable import MartletReports

/// Slots of 100 requests each, with the given failures.
private func slots(_ failures: [Double]) -> [ShareShift.Share] { failures.map { ($0, 100) } }

@Suite struct ShareShiftTests {
    @Test func aShareThatRisesAndStaysHighIsFoundFromItsFirstSlotOn() {
        let range = ShareShift.range(of: slots([1, 0, 2, 1, 1, 20, 18, 22, 19, 21]), isMore: true)
        #expect(range == 5...9)
    }

    @Test func anOutageThatIsOverIsFoundWithItsEnd() {
        let range = ShareShift.range(of: slots([1, 0, 2, 40, 60, 50, 1, 1, 0, 2]), isMore: true)
        #expect(range == 3...5)
    }

    @Test func aShareThatFellIsFoundOnlyAmongImprovements() {
        let falling = slots([20, 22, 19, 21, 20, 1, 0, 2, 1, 1])
        #expect(ShareShift.range(of: falling, isMore: false) == 5...9)
        #expect(ShareShift.range(of: falling, isMore: true) == 0...4)
    }

    @Test func aSteadyShareHasNoRange() {
        #expect(ShareShift.range(of: slots([9, 11, 10, 8, 12, 10, 9, 11, 10, 10]), isMore: true) == nil)
        #expect(ShareShift.range(of: slots(Array(repeating: 0, count: 10)), isMore: true) == nil)
        #expect(ShareShift.range(of: slots(Array(repeating: 100, count: 10)), isMore: true) == nil)
        #expect(ShareShift.range(of: [], isMore: true) == nil)
        #expect(ShareShift.range(of: slots([50]), isMore: true) == nil)
    }

    @Test func slotsThatVaryStronglyByThemselvesNeedMore() {
        // A burst of failures every other slot: two bursts next to each other are no beginning.
        let bursts = slots([0, 30, 0, 30, 0, 30, 30, 0, 30, 0])
        #expect(ShareShift.range(of: bursts, isMore: true) == nil)
    }

    @Test func slotsWithoutRequestsAreNeitherBeginningNorEnd() {
        var slots = slots([1, 1, 1, 1, 0, 25, 25, 25, 25, 0])
        (slots[4].all, slots[9].all) = (0, 0)
        #expect(ShareShift.range(of: slots, isMore: true) == 5...8)
    }

    @Test func aChangeThatFewRequestsCannotTimeIsSaidToBe() {
        #expect(ShareShift.wouldBeFound(in: slots(Array(repeating: 20, count: 10)), from: 0.01))
        #expect(!ShareShift.wouldBeFound(in: [(2, 10), (2, 10)], from: 0.01))
        #expect(!ShareShift.wouldBeFound(in: slots(Array(repeating: 20, count: 10)), from: 0.19))
        #expect(!ShareShift.wouldBeFound(in: [], from: 0.1))
    }
}
