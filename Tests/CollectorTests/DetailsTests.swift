import Fixtures
import Foundation
import GRDB
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@Suite struct DetailsTests {
    private let folder: TemporaryFolder
    private let clock = Clock()
    private let storage: SQLiteStorage

    init() throws {
        folder = try TemporaryFolder()
        var limits = SQLiteLimits()
        limits.maxDetails = 3
        limits.detailAge = 100
        storage = try SQLiteStorage(
            path: folder.path("collector.sqlite"), limits: limits, now: { [clock] in clock.time })
    }

    private func store(_ numbers: [UInt8]) async throws {
        let batch = DetailsBatch(resource: Samples.resource(), details: numbers.map(Samples.detail))
        #expect(try await storage.store([batch], of: nil) == .stored)
    }

    private func storedNumbers() async throws -> [UInt8] {
        try await DatabaseQueue(path: folder.path("collector.sqlite")).read { db in
            try Data.fetchAll(db, sql: "SELECT trace_id FROM detail ORDER BY id").compactMap(\.first)
        }
    }

    @Test func theOldestMakeRoomForTheNewest() async throws {
        try await store([1, 2])
        try await store([3, 4])
        #expect(try await storedNumbers() == [2, 3, 4])
        try await store([5, 6, 7, 8])
        #expect(try await storedNumbers() == [6, 7, 8])
    }

    @Test func theyAreGoneAfterTheirAge() async throws {
        try await store([1])
        clock.time += 100
        try await store([2])
        #expect(try await storedNumbers() == [1, 2])
        clock.time += 1
        try await store([3])
        #expect(try await storedNumbers() == [2, 3])
    }
}
