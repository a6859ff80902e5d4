import Testing

@testable import MartletReports

@Suite struct ChangeOnsetTests {
    /// Returns the minutes of two hours with 100 requests each, of which 2 fail before and `failing` in a part of the second hour.
    private func minutes(failing: Double, _ part: Range<Int>) -> [SignalCounts] {
        (-60..<60).map { minute in
            let usual: Double = minute.isMultiple(of: 2) ? 1 : 3
            return SignalCounts(part.contains(minute) ? failing + usual : usual, of: 100)
        }
    }

    @Test func aChangeThatBeganInTheWindowHasItsMinute() throws {
        let onset = try #require(ChangeOnset(minutes(failing: 20, 20..<60), length: 60, .worse))
        #expect(onset == ChangeOnset(slots: 20..<60, beginnings: 20...20))
    }

    @Test func aChangeThatIsOverHasBothMinutes() throws {
        let onset = try #require(ChangeOnset(minutes(failing: 20, 20..<35), length: 60, .worse))
        #expect(onset == ChangeOnset(slots: 20..<35, beginnings: 20...20))
        let early = try #require(ChangeOnset(minutes(failing: 20, -10..<25), length: 60, .worse))
        #expect(early.slots == 0..<25)
    }

    @Test func aChangeThatWasThereAllTheTimeNamesNoOtherTime() throws {
        let onset = try #require(ChangeOnset(minutes(failing: 20, 0..<60), length: 60, .worse))
        #expect(onset == ChangeOnset(slots: 0..<60, beginnings: 0...0))
        // Some minutes are worse than others, but none is as before.
        let uneven = (-60..<60).map { SignalCounts($0 < 0 ? 2 : $0 % 20 < 10 ? 15 : 25, of: 100) }
        #expect(ChangeOnset(uneven, length: 60, .worse)?.slots == 0..<60)
    }

    @Test func aBeginningThatIsNotKnownToTheMinuteIsARange() throws {
        let slow = (-60..<60).map { minute in
            SignalCounts(minute < 20 ? 2 : minute < 26 ? 2 + Double(minute - 19) * 1.5 : 14, of: 100)
        }
        let onset = try #require(ChangeOnset(slow, length: 60, .worse))
        #expect(onset.beginnings.count > 1)
        #expect(onset.beginnings.lowerBound > 18 && onset.beginnings.upperBound < 28)
    }

    @Test func fewRequestsHaveNoTime() throws {
        let few = (-10..<10).map { SignalCounts($0 < 0 ? 0 : $0.isMultiple(of: 3) ? 1 : 0, of: 4) }
        let onset = try #require(ChangeOnset(few, length: 10, .worse))
        #expect(!onset.isClear)
    }

    @Test func aNoisyPastTakesATimeAway() throws {
        let minutes = minutes(failing: 6, 20..<60)
        #expect(ChangeOnset(minutes, length: 60, .worse)?.isFromStart == false)
        #expect(ChangeOnset(minutes, length: 60, .worse, noise: 2)?.isFromStart == true)
    }

    /// So many requests that five minutes of the past vary more than they would by chance, but far less than this change.
    @Test func aShortWindowHasItsMinuteThoughThePastVaries() throws {
        let minutes = (-10..<10).map { SignalCounts($0 < 3 ? 3 : 30, of: 300) }
        let onset = try #require(ChangeOnset(minutes, length: 10, .worse, noise: 0.13))
        #expect(onset == ChangeOnset(slots: 3..<10, beginnings: 3...3))
        #expect(ChangeOnset(minutes, length: 10, .worse, noise: 0.4)?.isFromStart == true)
    }

    @Test func aShareThatMovedTheOtherWayHasNoTime() {
        let minutes = minutes(failing: 20, 0..<60)
        #expect(ChangeOnset(minutes, length: 60, .better) == nil)
        #expect(ChangeOnset(minutes.reversed(), length: 60, .better)?.slots == 0..<60)
    }
}
