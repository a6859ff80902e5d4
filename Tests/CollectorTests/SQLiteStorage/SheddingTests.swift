import Fixtures
import Foundation
import GRDB
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

/// A store that is larger than its limit.
@Suite struct SheddingTests {
    private let folder: TemporaryFolder
    private let clock = Clock()

    init() throws {
        folder = try TemporaryFolder()
        clock.time = Samples.time(0)
    }

    private var path: String { folder.path("collector.sqlite") }

    private func open(maxBytes: UInt64 = .max, clockMayJump: Bool = false) throws -> SQLiteStorage {
        var limits = SQLiteLimits()
        if clockMayJump { limits.clockPatience = .max }
        limits.maxStoreBytes = maxBytes
        return try SQLiteStorage(path: path, limits: limits, now: { [clock] in clock.time })
    }

    private func fill(_ storage: SQLiteStorage) async throws {
        for number in 1...40 as ClosedRange<UInt8> {
            var detail = Samples.detail(number)
            detail.attributes["body"] = .string(String(repeating: "x", count: 20_000))
            _ = try await storage.store([DetailsBatch(resource: Samples.resource(), details: [detail])], of: nil)
        }
        for end in stride(from: UInt64(10), through: 9000, by: 10) {
            clock.time = Samples.time(end)
            _ = try await storage.store([Samples.metrics(end: end)], of: nil)
            if end % 1800 == 0 { try await storage.maintain() }
        }
    }

    @Test func oldestDetailsGoFirstAndNoMoreThanNeeded() async throws {
        let before = try open()
        try await fill(before)
        let used = try await before.state().bytesInUse
        try before.close()
        let storage = try open(maxBytes: used - 100_000)
        try await storage.maintain()
        let state = try await storage.state()
        #expect(state.bytesInUse <= used - 100_000)
        #expect(state.shedChunks == 0)
        #expect((1...39).contains(state.shedDetails))
        let oldest = try await storage.pool.read { try Int.fetchOne($0, sql: "SELECT min(id) FROM detail") }
        #expect(oldest == Int(state.shedDetails) + 1)
    }

    @Test func pointsOfHoursStayAndEveryAnswerNamesItsWindow() async throws {
        let before = try open()
        try await fill(before)
        let hours = try await before.rows("version_chunk WHERE tier = 2")
        #expect(hours > 0)
        try before.close()
        let storage = try open(maxBytes: 1)
        try await storage.maintain()
        #expect(try await storage.rows("detail") == 0)
        #expect(try await storage.rows("chunk WHERE rolled > 0") == 0)
        #expect(try await storage.rows("version_chunk WHERE tier < 2 AND rolled = 1") == 0)
        #expect(try await storage.rows("version_chunk WHERE tier = 2") == hours)
        let state = try await storage.state()
        #expect(state.shedDetails == 40)
        #expect(state.shedChunks > 0)
        #expect(state.bytesInUse > state.maxBytes)
        let window = TimeWindow(from: Samples.time(15), to: Samples.time(9000))
        let answer = try await storage.statistics(StatisticsQuery(window: window, by: []))
        // The first hour no longer has finer points, so the window grows to include it.
        #expect(answer.window.from < window.from)
        #expect(answer.groups.map(\.count) == [900])
    }

    /// Points of 10 s are deleted once they are rolled up. Only hours remain.
    @Test func storeMayShrinkUntilOnlyHoursRemain() async throws {
        let before = try open()
        for end in stride(from: UInt64(10), through: 7200, by: 10) {
            clock.time = Samples.time(end)
            _ = try await before.store([Samples.metrics(end: end)], of: nil)
        }
        let used = try await before.state().bytesInUse
        try before.close()
        let storage = try open(maxBytes: used - 8192)
        #expect(try await storage.state().mayShrink)
        for _ in 0..<2 { try await storage.maintain() }
        #expect(try await storage.state().bytesInUse <= used - 8192)
        #expect(try await storage.state().mayShrink)
        try storage.close()
        clock.time = Samples.time(11_500)
        let tooSmall = try open(maxBytes: 8192)
        for _ in 0..<2 { try await tooSmall.maintain() }
        #expect(try await tooSmall.rows("chunk") == 0)
        #expect(try await tooSmall.rows("version_chunk WHERE tier < 2") == 0)
        #expect(try await tooSmall.rows("version_chunk") > 0)
        #expect(try await !tooSmall.state().mayShrink)
    }

    /// The hours of a year are many more than the minutes of a week, which most reports need.
    @Test func hoursOlderThanThreeMonthsGoBeforeMinutes() async throws {
        let day: UInt64 = 86_400
        let before = try open(clockMayJump: true)
        for end in stride(from: UInt64(10), through: 120 * day, by: 21_600) {
            clock.time = Samples.time(end)
            let points = (0..<20).map { Samples.point(Samples.dimensions(endpoint: "/\($0)"), [0.1], end: end) }
            _ = try await before.store([InstanceMetrics(resource: Samples.resource(), points: points)], of: nil)
            if end % (2 * day) == 10 { try await before.maintain() }
        }
        try await before.maintain()
        let (hours, minutes) = (
            try await before.rows("version_chunk"), try await before.rows("version_chunk WHERE tier = 1")
        )
        #expect(minutes > 20)
        let used = try await before.state().bytesInUse
        try before.close()
        let storage = try open(maxBytes: used - 24_000, clockMayJump: true)
        for _ in 0..<2 { try await storage.maintain() }
        let state = try await storage.state()
        #expect(state.bytesInUse <= used - 24_000)
        #expect(state.shedHours > 0 && state.shedChunks == 0)
        #expect(try await storage.rows("version_chunk WHERE tier = 1") >= minutes)
        #expect(try await storage.rows("version_chunk") < hours)
        try storage.close()
        // The hours of eight days stay, whatever the limit.
        let small = try open(maxBytes: 1, clockMayJump: true)
        for _ in 0..<2 { try await small.maintain() }
        let left = Samples.time(111 * day)
        #expect(try await small.rows("version_chunk WHERE tier = 2 AND end_time > \(left)") > 20)
        #expect(try await small.rows("version_chunk WHERE end_time <= \(left)") == 0)
    }

    /// A roll-up writes new pages, for which a full disk has no room.
    @Test func expiredDataIsDeletedEvenIfNothingCanBeRolledUp() async throws {
        let storage = try open()
        try await fill(storage)
        clock.time = Samples.time(9600)
        try await storage.pool.write { db in
            try db.execute(sql: "UPDATE detail SET received = 0")
            try db.execute(
                sql: """
                    CREATE TRIGGER full BEFORE INSERT ON version_chunk BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END
                    """)
        }
        await #expect(throws: DatabaseError.self) { try await storage.maintain() }
        #expect(try await storage.rows("detail") == 0)
    }
}
