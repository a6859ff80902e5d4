import Fixtures
import Foundation
import GRDB
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

/// The log of a store that is always being read.
@Suite struct FoldedLogTests {
    private let folder: TemporaryFolder
    private let storage: SQLiteStorage

    init() throws {
        folder = try TemporaryFolder()
        var limits = SQLiteLimits()
        limits.maxLogBytes = 1 << 20
        storage = try SQLiteStorage(path: folder.path("collector.sqlite"), limits: limits)
    }

    private var logBytes: UInt64 { StoreSize.bytes(ofFile: folder.path("collector.sqlite-wal")) }

    /// A report that runs until it is ended.
    private final class LongReport: Sendable {
        private let gate = Gate()
        private let end = DispatchSemaphore(value: 0)
        private let task: Task<Void, any Error>

        init(of storage: SQLiteStorage) {
            let (started, end) = (gate, end)
            task = Task {
                try await storage.pool.read { db in
                    _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM detail")
                    Task { await started.open() }
                    end.wait()
                }
            }
        }

        func begin() async { await gate.pass() }

        func finish() async throws {
            end.signal()
            try await task.value
        }
    }

    private func storeTwoMegabytes(_ round: UInt64) async throws {
        for number in 1...32 as ClosedRange<UInt8> {
            var detail = Samples.detail(number)
            detail.attributes["body"] = .string(String(repeating: "x", count: 65536))
            _ = try await storage.store(
                [DetailsBatch(resource: Samples.resource(), details: [detail])],
                of: BatchID(instance: "i-1", sequence: round * 100 + UInt64(number), signal: .traces))
        }
    }

    /// Each report begins before the previous one ends, so SQLite itself never resets the log.
    @Test func logStaysSmallEvenIfReportsOverlap() async throws {
        var report = LongReport(of: storage)
        await report.begin()
        for round in 1...4 as ClosedRange<UInt64> {
            try await storeTwoMegabytes(round)
            let next = LongReport(of: storage)
            await next.begin()
            try await report.finish()
            report = next
        }
        #expect(logBytes > 8 << 20)
        let (maintenance, last) = (storage, report)
        async let maintained: Void = maintenance.maintain()
        // The pass waits for this report while batches are stored.
        try await storeTwoMegabytes(5)
        try await last.finish()
        try await maintained
        try await storeTwoMegabytes(6)
        try await storage.maintain()
        #expect(logBytes == 0)
        #expect(try await storage.requests(RequestsQuery(window: Samples.everything, limit: 1)).count == 6 * 32)
    }
}
