import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// A store whose collector's clock jumps.
@Suite struct ClockJumpTests {
    private static let minute: UInt64 = 60_000_000_000
    private static let hour = 60 * minute
    private static let day = 24 * hour

    private let folder: TemporaryFolder
    private let clock = Clock()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(_ limits: SQLiteLimits = SQLiteLimits()) throws -> SQLiteStorage {
        try SQLiteStorage(path: folder.path("collector.sqlite"), limits: limits, now: { [clock] in clock.time })
    }

    /// Runs a collector from `start` for `minutes`. Its senders' clocks differ from its own by `difference`.
    private func run(
        _ storage: SQLiteStorage, from start: UInt64, minutes: UInt64, senders difference: Int64 = 0
    ) async throws {
        for minute in 0...minutes {
            clock.time = start + minute * Self.minute
            let end = UInt64(Int64(clock.time) + difference)
            let point = RequestPoint(
                dimensions: Samples.dimensions(), start: end - 10_000_000_000, end: end,
                statistics: Samples.statistics([0.1]))
            _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: [point])], of: nil)
            if minute % 10 == 0 { try await storage.maintain() }
        }
    }

    private func storeDetail(_ number: UInt8, in storage: SQLiteStorage) async throws {
        _ = try await storage.store(
            [DetailsBatch(resource: Samples.resource(), details: [Samples.detail(number)])], of: nil)
    }

    /// Batches of senders with correct clocks arrive all the time.
    @Test func oneStartTwoYearsAheadDeletesNothing() async throws {
        let before = try open()
        try await run(before, from: Samples.time(0), minutes: 120)
        try await storeDetail(1, in: before)
        let batch = BatchID(instance: "i-1", sequence: 1, signal: .metrics)
        _ = try await before.store([Samples.metrics(end: 10)], of: batch)
        try before.close()

        let ahead = try open()
        let years = Int64(2 * 365 * Self.day)
        try await run(
            ahead, from: Samples.time(120 * 60) + UInt64(years), minutes: 90, senders: -years)
        #expect(try await ahead.state().clockJump > 729 * 86400)
        try await storeDetail(2, in: ahead)
        #expect(try await ahead.rows("detail") == 2)
        try await ahead.maintain()
        #expect(try await ahead.store([Samples.metrics(end: 10)], of: batch) == .duplicate)
        try ahead.close()

        clock.time = Samples.time(215 * 60)
        let after = try open()
        try await run(after, from: clock.time, minutes: 70)
        #expect(try await after.state().clockJump == 0)
        let window = TimeWindow(from: Samples.time(15), to: Samples.time(45))
        let answer = try await after.statistics(StatisticsQuery(window: window, by: []))
        #expect(answer.window == window)
        #expect(try await after.rows("detail") == 2)
    }

    @Test func oldDataExpiresAfterAMonthOffOnceSendersAgreeWithTheClock() async throws {
        let before = try open()
        try await run(before, from: Samples.time(0), minutes: 30)
        try await storeDetail(1, in: before)
        try before.close()

        let after = try open()
        let start = Samples.time(30 * 86400)
        try await run(after, from: start, minutes: 50)
        #expect(try await after.rows("detail") == 1)
        #expect(try await after.rows("chunk WHERE tier = 0 AND end_time <= \(Samples.time(3600))") > 0)
        try await run(after, from: start + 51 * Self.minute, minutes: 20)
        #expect(try await after.rows("detail") == 0)
        #expect(try await after.rows("chunk WHERE tier = 0 AND end_time <= \(Samples.time(3600))") == 0)
        #expect(try await after.state().clockJump == 0)
    }

    /// The clock was ahead for so long that the store believed it.
    @Test func tenSecondFiguresReturnOnceTheClockIsCorrected() async throws {
        let storage = try open()
        try await run(storage, from: Samples.time(0) + 730 * Self.day, minutes: 10)
        try await run(storage, from: Samples.time(0), minutes: 80)
        let window = TimeWindow(from: Samples.time(80 * 60 - 15), to: Samples.time(80 * 60))
        let answer = try await storage.statistics(StatisticsQuery(window: window, by: []))
        #expect(answer.window == window)
        #expect(answer.groups.map(\.count) == [1])
    }

    @Test func detailsStoredWhileTheClockWasAheadStillExpire() async throws {
        clock.time = Samples.time(0)
        var limits = SQLiteLimits()
        limits.detailAge = Self.day
        let storage = try open(limits)
        try await storage.maintain()
        clock.time = Samples.time(0) + 730 * Self.day
        try await storeDetail(1, in: storage)
        clock.time = Samples.time(10)
        try await storage.maintain()
        for halves in 1...50 as ClosedRange<UInt64> {
            clock.time = Samples.time(halves * 1800)
            try await storage.maintain()
        }
        #expect(try await storage.rows("detail") == 0)
    }
}
