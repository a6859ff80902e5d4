import Fixtures
import Foundation
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

/// A store that an older version of the collector made is opened, brought up in steps, and answers as before: see ``NineDays``.
@Suite struct OlderStoreTests {
    private static let stores = "Tests/CollectorTests/Fixtures/Stores/"
    private let folder: TemporaryFolder
    private let clock = Clock()

    init() throws {
        folder = try TemporaryFolder()
        clock.time = Samples.time(NineDays.end)
    }

    private func open() throws -> SQLiteStorage {
        var limits = SQLiteLimits()
        limits.clockPatience = .max
        return try SQLiteStorage(path: folder.path("collector.sqlite"), limits: limits, now: { [clock] in clock.time })
    }

    @Test(arguments: ["2026-11-29"]) func storeAnswersAsBeforeAtEachStepOfTheWayUp(day: String) async throws {
        try FileManager.default.copyItem(
            atPath: Repository.path(Self.stores + day + ".sqlite"), toPath: folder.path("collector.sqlite"))
        let before = try String(contentsOfFile: Repository.path(Self.stores + day + ".txt"), encoding: .utf8)
            .split(separator: "\n").map(String.init)
        #expect(before.count > 30)
        #expect(throws: StorageFailure.self) { try SQLiteStorage(readingFrom: folder.path("collector.sqlite")) }
        let storage = try open()
        #expect(try await NineDays.answers(storage) == before)
        try await storage.maintain()
        #expect(try await NineDays.answers(storage) == before)
        try storage.close()
        let again = try open()
        try await again.maintain()
        #expect(try await NineDays.answers(again) == before)
        // The rows of processes that are left are younger than seven days.
        let old = Samples.time(NineDays.end - 7 * 86_400)
        #expect(try await again.rows("chunk WHERE tier = 2 AND end_time <= \(old)") == 0)
        #expect(try await again.rows("ledger WHERE time <= \(old)") == 0)
        #expect(try await again.rows("process_slot WHERE tier = 2 AND end_time <= \(old)") == 0)
        // A pod lives for two hours. One ended in the first hour that stays.
        #expect(try await again.rows("resource WHERE service = 'jobs'") == 7 * 12 + 1)
    }
}
