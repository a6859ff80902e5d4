import MartletStorage
import Testing

@Suite struct RetentionClockTests {
    private static let minute: Int64 = 60_000_000_000
    private static let hour = 60 * minute
    private static let day = 24 * hour
    private static let start = 20_000 * day

    private var clock = RetentionClock(believed: Self.start, patience: Self.hour)

    /// Lets the clock run while each sender sends every ten minutes.
    ///
    /// - Parameter senders: the differences between the senders' clocks and this one.
    private mutating func run(from start: Int64, for time: Int64, senders: [Int64]) {
        for now in stride(from: start, through: start + time, by: Int(10 * Self.minute)) {
            clock.advance(to: now)
            for (sender, difference) in senders.enumerated() {
                clock.hear(from: Int64(sender), until: now + difference)
            }
        }
    }

    @Test mutating func steadyClockIsBelievedWithoutSenders() {
        run(from: Self.start, for: 3 * Self.day, senders: [])
        #expect(clock.isBelieved)
        #expect(clock.time == Self.start + 3 * Self.day)
        #expect(clock.jumped == 0)
    }

    @Test mutating func restartWithinAnHourIsNotAJump() {
        clock.advance(to: Self.start + Self.hour)
        #expect(clock.time == Self.start + Self.hour)
    }

    @Test mutating func clockTwoYearsAheadIsNeverBelievedWhileMostSendersAreRight() {
        run(from: Self.start + 730 * Self.day, for: 7 * Self.day, senders: [-730, -730, 0].map { $0 * Self.day })
        #expect(!clock.isBelieved)
        #expect(clock.time == Self.start)
        #expect(clock.jumped == 737 * Self.day)
    }

    @Test mutating func clockCorrectedAfterBootIsBelievedAtOnce() {
        run(from: Self.start + 730 * Self.day, for: 50 * Self.minute, senders: [0])
        #expect(clock.time == Self.start)
        clock.advance(to: Self.start + 50 * Self.minute)
        #expect(clock.isBelieved)
        #expect(clock.time == Self.start + 50 * Self.minute)
    }

    @Test(arguments: [[0], [3 * 3_600_000_000_000], [-20 * 3_600_000_000_000, 0, 0]] as [[Int64]])
    mutating func clockAfterAMonthOffIsBelievedAfterAnHourEvenIfSendersAreHoursWrong(senders: [Int64]) {
        let now = Self.start + 30 * Self.day
        run(from: now, for: 50 * Self.minute, senders: senders)
        #expect(clock.time == Self.start)
        run(from: now + Self.hour, for: 10 * Self.minute, senders: senders)
        #expect(clock.isBelieved)
        #expect(clock.time == now + 70 * Self.minute)
    }

    @Test mutating func clockIsNotBelievedAfterAJumpWithoutSenders() {
        run(from: Self.start + 30 * Self.day, for: 30 * Self.day, senders: [])
        #expect(clock.time == Self.start)
    }

    /// Agents deliver waiting batches before new ones.
    @Test mutating func latestBatchOfEachSenderDecides() {
        let now = Self.start + 30 * Self.day
        clock.advance(to: now)
        for age in [30, 20, 1, 0] as [Int64] { clock.hear(from: 1, until: now - age * Self.day) }
        for minutes in 1...60 as ClosedRange<Int64> { clock.advance(to: now + minutes * Self.minute) }
        #expect(clock.isBelieved)
    }

    @Test mutating func secondJumpRestartsTheHour() {
        run(from: Self.start + 730 * Self.day, for: 50 * Self.minute, senders: [0])
        run(from: Self.start + 400 * Self.day, for: 50 * Self.minute, senders: [0])
        #expect(clock.time == Self.start)
    }

    @Test mutating func fastClockCanGoBack() {
        run(from: Self.start - 730 * Self.day, for: 50 * Self.minute, senders: [0])
        #expect(clock.time == Self.start - 730 * Self.day + 50 * Self.minute)
        #expect(!clock.isBelieved)
        run(from: Self.start - 730 * Self.day + Self.hour, for: 0, senders: [0])
        #expect(clock.isBelieved)
    }

    @Test(arguments: [30, -30] as [Int64]) func changedTimeIsSavedOnce(minutes: Int64) {
        let clock = StoreClock(believed: Self.start, patience: UInt64(Self.hour))
        #expect(clock.timeToSave() == nil)
        let time = Self.start + minutes * Self.minute
        clock.advance(to: UInt64(time))
        #expect(clock.timeToSave() == time)
        clock.advance(to: UInt64(time + Self.minute - 1))
        #expect(clock.timeToSave() == nil)
    }
}
