import Fixtures
import Foundation
import GRDB
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

@Suite struct FullDiskTests {
    private static let second: UInt64 = 1_000_000_000

    private let clock = Clock()

    private func store(_ number: UInt64, in storage: SQLiteStorage) async throws {
        var detail = Samples.detail(1)
        detail.attributes["body"] = .string(String(repeating: "x", count: 60_000))
        _ = try await storage.store(
            [DetailsBatch(resource: Samples.resource(), details: [detail])],
            of: BatchID(instance: "i-1", sequence: number, signal: .traces))
    }

    private func open(on disk: SmallDisk) throws -> SQLiteStorage {
        var limits = SQLiteLimits()
        limits.detailAge = 600 * Self.second
        return try SQLiteStorage(
            path: disk.url.appendingPathComponent("collector.sqlite").path, limits: limits,
            now: { [clock] in clock.time })
    }

    @Test(.enabled(if: SmallDisk.isPossible, "a file system of a given size can only be mounted by root"))
    func storeOpensOnAFullDisk() async throws {
        let disk = try SmallDisk(bytes: 80 << 20)
        clock.time = Samples.time(0)
        var storage: SQLiteStorage? = try open(on: disk)
        try await storage?.maintain()
        for number in 1...20 as ClosedRange<UInt64> { if let storage { try await store(number, in: storage) } }
        try storage?.close()
        storage = nil
        try disk.fill()
        let reserve = disk.url.appendingPathComponent("collector.sqlite-reserve").path
        #expect(FileManager.default.fileExists(atPath: reserve))
        let reopened = try open(on: disk)
        #expect(reopened.fault == "the disk is full; old data makes room for new")
        #expect(!FileManager.default.fileExists(atPath: reserve))
        #expect(try await reopened.rows("detail") == 20)
        clock.time = Samples.time(1800)
        try await reopened.maintain()
        for more in 1...20 as ClosedRange<UInt64> { try await store(20_000 + more, in: reopened) }
        #expect(reopened.fault == nil)
        #expect(try await reopened.rows("detail") == 20)
    }

    /// The index of SQLite's log does not fit on the disk. SQLite reports this as an I/O error.
    @Test(.enabled(if: SmallDisk.isPossible, "a file system of a given size can only be mounted by root"))
    func errorOfTheLogIndexCountsAsAFullDisk() async throws {
        let disk = try SmallDisk(bytes: 80 << 20)
        clock.time = Samples.time(0)
        let storage = try open(on: disk)
        try await storage.maintain()
        try disk.fill()
        let error = DatabaseError(resultCode: .SQLITE_IOERR, message: "disk I/O error")
        await #expect(throws: DatabaseError.self) { try await storage.health.noting { throw error } }
        #expect(storage.fault == "the disk is full; nothing is stored until there is room")
        #expect(error.isFullDisk(at: storage.pool.path))
        try disk.makeRoom()
        #expect(!error.isFullDisk(at: storage.pool.path))
    }

    /// The index of SQLite's log grows by 32 KiB after 4,062 pages of the log.
    @Test(.enabled(if: SmallDisk.isPossible, "a file system of a given size can only be mounted by root"))
    func reserveIsReleasedForTheIndexOfTheLog() async throws {
        let disk = try SmallDisk(bytes: 80 << 20)
        clock.time = Samples.time(0)
        let storage = try open(on: disk)
        try await storage.maintain()
        func writeOnePage() async throws {
            try await storage.write { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
        }
        while StoreSize.bytes(ofFile: storage.pool.path + "-wal") < 32 + 4060 * 4120 { try await writeOnePage() }
        try disk.fill()
        let filler = try FileHandle(forWritingTo: disk.url.appendingPathComponent("filler"))
        try filler.truncate(atOffset: filler.seekToEnd() - 24 * 1024)
        try filler.close()
        let error = await #expect(throws: DatabaseError.self) { while true { try await writeOnePage() } }
        #expect(error?.resultCode == .SQLITE_IOERR)
        clock.time = Samples.time(1800)
        try await storage.maintain()
        try await store(1, in: storage)
        #expect(storage.fault == nil)
    }

    /// A deletion also needs room for the log.
    @Test(.enabled(if: SmallDisk.isPossible, "a file system of a given size can only be mounted by root"))
    func batchesAreAcceptedAgainOnceOldDetailsExpire() async throws {
        let disk = try SmallDisk(bytes: 80 << 20)
        clock.time = Samples.time(0)
        let storage = try open(on: disk)
        try await storage.maintain()
        var number: UInt64 = 0
        await #expect(throws: DatabaseError.self) {
            while number < 10_000 {
                number += 1
                try await store(number, in: storage)
            }
        }
        try disk.fill()
        for minute in 1...9 as ClosedRange<UInt64> {
            clock.time = Samples.time(minute * 60)
            try? await storage.maintain()
            try disk.fill()
            _ = try? await store(10_000 + minute, in: storage)
        }
        clock.time = Samples.time(1800)
        try await storage.maintain()
        for more in 1...20 as ClosedRange<UInt64> { try await store(20_000 + more, in: storage) }
        #expect(try await storage.rows("detail") == 20)
    }
}
