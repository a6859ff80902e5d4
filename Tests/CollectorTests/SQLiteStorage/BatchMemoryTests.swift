import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// For how long and for how many rows the store remembers batches.
@Suite struct BatchMemoryTests {
    private let folder: TemporaryFolder
    private let batch = BatchID(instance: "i-1", sequence: 1, signal: .metrics)

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func partsAreForgottenOnceTheWholeBatchHasArrived() async throws {
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
        for text in ["5-12.01", "5-12.1", "5-12.001", "5-12.000", "20.01", "20.0", "20"] {
            let batch = try #require(BatchID("i-1/\(text)/metrics"))
            #expect(try await storage.store([Samples.metrics(end: 10)], of: batch) != .duplicate)
        }
        #expect(try await storage.rows("batch_part") == 0)
    }

    @Test func batchSentTwiceCountsOnceEvenIfTheStoreWasClosedInBetween() async throws {
        let metrics = [Samples.metrics(requests: 3, captured: 3, end: 10)]
        let first = try SQLiteStorage(path: folder.path("collector.sqlite"))
        #expect(try await first.store(metrics, of: batch) == .stored)
        try first.close()
        let second = try SQLiteStorage(path: folder.path("collector.sqlite"))
        #expect(try await second.store(metrics, of: batch) == .duplicate)
        let answer = try await second.statistics(StatisticsQuery(window: Samples.everything, by: []))
        #expect(answer.groups.map(\.count) == [3])
    }

    @Test func batchIDIsForgottenOnlyAfterItsAge() async throws {
        var limits = SQLiteLimits()
        limits.batchAge = 100
        let clock = Clock()
        let storage = try SQLiteStorage(path: folder.path("aged.sqlite"), limits: limits, now: { clock.time })
        let metrics = [Samples.metrics(requests: 1, captured: 1, end: 10)]
        #expect(try await storage.store(metrics, of: batch) == .stored)
        clock.time = 1100
        #expect(try await storage.store(metrics, of: batch) == .duplicate)
        clock.time = 1101
        try await storage.maintain()
        #expect(try await storage.store(metrics, of: batch) == .stored)
        #expect(try await storage.store(metrics, of: batch) == .duplicate)
    }

    @Test func expiredBatchesOfAnActiveInstanceAreForgotten() async throws {
        var limits = SQLiteLimits()
        limits.batchAge = 100
        let clock = Clock()
        let storage = try SQLiteStorage(path: folder.path("aged.sqlite"), limits: limits, now: { clock.time })
        let half = BatchID(instance: "i-1", sequence: 9, part: "0", signal: .metrics)
        for batch in [batch, half] {
            #expect(try await storage.store([Samples.metrics(end: 10)], of: batch) == .stored)
        }
        clock.time = 1101
        for part in ["", "0"] {
            let later = BatchID(instance: "i-1", sequence: part.isEmpty ? 5000 : 5001, part: part, signal: .metrics)
            #expect(try await storage.store([Samples.metrics(end: 20)], of: later) == .stored)
        }
        for batch in [batch, half] {
            #expect(try await storage.store([Samples.metrics(end: 10)], of: batch) == .stored)
        }
    }
}
