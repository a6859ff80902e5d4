import Fixtures
import GRDB
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

/// The days of versions, which old hours are merged into. They change no answer.
@Suite struct DayTierTests {
    private let folder: TemporaryFolder
    private let clock = Clock()
    private let storage: SQLiteStorage

    /// The start of a day in UTC.
    private static let start: UInt64 = 35_200
    private static let hour: UInt64 = 3_600
    private static let day: UInt64 = 24 * hour

    init() throws {
        folder = try TemporaryFolder()
        clock.time = Samples.time(Self.start)
        var limits = SQLiteLimits()
        // A test sets the clock days ahead.
        limits.clockPatience = .max
        storage = try SQLiteStorage(
            path: folder.path("collector.sqlite"), limits: limits, now: { [clock] in clock.time })
    }

    /// Stores points of two versions for each of some hours after the start.
    private func store(_ hours: some Sequence<UInt64>, _ random: inout SeededGenerator) async throws {
        for hour in hours {
            let senders = ["1", "2"].map { version in
                var resource = Samples.resource(instance: version)
                resource.version = version
                let durations = (0...Int.random(in: 0...3, using: &random)).map { _ in
                    Double(Int.random(in: 1...10_240, using: &random)) / 1024
                }
                let dimensions = Samples.dimensions(endpoint: "/\(Int.random(in: 0..<3, using: &random))")
                let end = Self.start + hour * Self.hour + 10
                return InstanceMetrics(resource: resource, points: [Samples.point(dimensions, durations, end: end)])
            }
            _ = try await storage.store(senders, of: nil)
        }
    }

    private func setClock(toDay day: UInt64) async throws {
        clock.time = Samples.time(Self.start + day * Self.day)
        try await storage.maintain()
    }

    /// The answers for windows that begin and end with an hour, whole and in slots.
    private func answers() async throws -> [StatisticsAnswer] {
        var all: [StatisticsAnswer] = []
        for (from, to) in [(0, 240), (24, 72), (25, 71), (5, 200), (30, 40), (47, 49), (0, 24)] as [(UInt64, UInt64)] {
            for step in [nil, 6, 24, 48] as [UInt64?] {
                let window = TimeWindow(
                    from: Samples.time(Self.start + from * Self.hour), to: Samples.time(Self.start + to * Self.hour))
                let query = StatisticsQuery(
                    window: window, by: [.version, .endpoint], step: step.map { $0 * Self.hour * 1_000_000_000 })
                all.append(try await storage.statistics(query))
            }
        }
        return all
    }

    private static func figures(_ answers: [StatisticsAnswer]) -> [[[String?]: [RequestStatistics]]] {
        answers.map { answer in
            let slots = answer.slots.map { $0.groups.map { $0.map(\.statistics) } }
            let groups = answer.groups.enumerated().map { ($1.values, [$1.statistics] + (slots?[$0] ?? [])) }
            return Dictionary(uniqueKeysWithValues: groups)
        }
    }

    @Test func daysGiveTheAnswersOfTheirHours() async throws {
        var random = SeededGenerator(seed: 7)
        try await store(0..<240, &random)
        // A process may be silent for seven days; until then an hour gets its requests.
        for (day, late) in [(11, [10, 50, 51, 100]), (12, [])] as [(UInt64, [UInt64])] {
            let before = try await answers()
            try await setClock(toDay: day)
            let after = try await answers()
            #expect(Self.figures(after) == Self.figures(before))
            #expect(after.map(\.window) == before.map(\.window))
            #expect(try await storage.rows("version_chunk WHERE tier = 3") == Int(2 * (day - 7)))
            #expect(try await storage.rows("version_chunk WHERE tier = 2 AND rolled = 1") >= Int(2 * (day - 7) * 24))
            try await store(late, &random)
        }
    }

    @Test func daysAreRead() async throws {
        var random = SeededGenerator(seed: 8)
        try await store(0..<240, &random)
        try await setClock(toDay: 11)
        try await storage.pool.write { try $0.execute(sql: "UPDATE version_chunk SET points = x'00' WHERE tier = 3") }
        let damaged = try await answers().map { $0.damagedPoints > 0 }
        let (whole, inSlotsOfHours) = (true, false)
        let isOfDays = [whole, inSlotsOfHours, whole, whole]
        #expect(Array(damaged[..<4]) == isOfDays)
        #expect(Array(damaged[16..<20]) == [false, false, false, false])
    }

    @Test func hoursGoWithTheirDay() async throws {
        var random = SeededGenerator(seed: 9)
        try await store(0..<240, &random)
        try await setClock(toDay: 11)
        clock.time = Samples.time(Self.start + 401 * Self.day + 12 * Self.hour)
        try await storage.maintain()
        #expect(try await storage.rows("version_chunk WHERE tier = 3") == 2 * 9)
        #expect(try await storage.rows("version_chunk WHERE tier = 2") == 2 * 9 * 24)
    }

    @Test func storeThatIsTooLargeGivesUpWholeDays() async throws {
        var random = SeededGenerator(seed: 10)
        try await store(0..<240, &random)
        try await setClock(toDay: 15)
        try storage.close()
        var limits = SQLiteLimits()
        limits.maxStoreBytes = 1
        let smaller = try SQLiteStorage(
            path: folder.path("collector.sqlite"), limits: limits, now: { [clock] in clock.time })
        try await smaller.maintain()
        // Eight days stay: one of them is made already.
        #expect(try await smaller.rows("version_chunk WHERE tier = 3") == 2 * 1)
        #expect(try await smaller.rows("version_chunk WHERE tier = 2") == 2 * 3 * 24)
    }
}
