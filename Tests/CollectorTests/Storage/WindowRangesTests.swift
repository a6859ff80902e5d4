import MartletStorage
import Testing

@Suite struct WindowRangesTests {
    /// A chunk from spans ends within an hour if metrics of the same requests begin there.
    @Test func partialHourIsInEveryWindowThatTouchesItAfterMinutesExpired() {
        let end = Self.time(10, 20)
        let expired = ExpiredTimes(fine: Self.time(11, 0), minutes: Self.time(11, 0))
        let windows = [(Self.time(9, 30), Self.time(10, 30)), (Self.time(10, 30), Self.time(11, 30))]
        let found = windows.map { from, to in
            WindowRanges(TimeWindow(from: UInt64(from), to: UInt64(to)), expired: expired).ranges
                .count { $0.tier == .hour && $0.state == .open && $0.contents == .all && $0.from < end && end <= $0.to }
        }
        #expect(found == [1, 1])
    }

    private static func time(_ hours: Int64, _ minutes: Int64) -> Int64 { (hours * 60 + minutes) * 60_000_000_000 }
}
