import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@Suite struct DuplicateBatchTests {
    private let folder: TemporaryFolder
    private let batch = BatchID(instance: "i-1", sequence: 1, signal: .metrics)

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open() throws -> SQLiteStorage {
        try SQLiteStorage(path: folder.path("collector.sqlite"))
    }

    private func count(in storage: SQLiteStorage) async throws -> UInt64 {
        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: []))
        return answer.groups.values.reduce(0) { $0 + $1.duration.count }
    }

    @Test func aBatchThatIsSentTwiceCountsOnce() async throws {
        let storage = try open()
        let metrics = [Samples.metrics(requests: 3, captured: 3, end: 10)]
        #expect(try await storage.store(metrics, of: batch) == .stored)
        #expect(try await storage.store(metrics, of: batch) == .duplicate)
        #expect(try await count(in: storage) == 3)
    }

    @Test func soItDoesWhenTheStoreWasClosedInBetween() async throws {
        let metrics = [Samples.metrics(requests: 3, captured: 3, end: 10)]
        let first = try open()
        #expect(try await first.store(metrics, of: batch) == .stored)
        try first.close()
        let second = try open()
        #expect(try await second.store(metrics, of: batch) == .duplicate)
        #expect(try await count(in: second) == 3)
    }

    @Test func manyAtOnceCountOnce() async throws {
        let storage = try open()
        let batch = batch
        let stored = try await withThrowingTaskGroup(of: StoreOutcome.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await storage.store([Samples.metrics(requests: 3, captured: 3, end: 10)], of: batch)
                }
            }
            return try await group.reduce(0) { $0 + ($1 == .stored ? 1 : 0) }
        }
        #expect(stored == 1)
        #expect(try await count(in: storage) == 3)
    }

    @Test func otherInstancesSequencesAndSignalsAreOtherBatches() async throws {
        let storage = try open()
        let metrics = [Samples.metrics(requests: 1, captured: 1, end: 10)]
        for (instance, sequence) in [("i-1", UInt64(1)), ("i-2", 1), ("i-1", 2), ("i-1", UInt64.max)] {
            let batch = BatchID(instance: instance, sequence: sequence, signal: .metrics)
            #expect(try await storage.store(metrics, of: batch) == .stored)
        }
        let traces = BatchID(instance: "i-1", sequence: 1, signal: .traces)
        #expect(try await storage.store([DetailsBatch](), of: traces) == .stored)
        #expect(try await count(in: storage) == 4)
    }

    @Test func withoutAnIdEveryBatchIsNew() async throws {
        let storage = try open()
        let metrics = [Samples.metrics(requests: 3, captured: 3, end: 10)]
        #expect(try await storage.store(metrics, of: nil) == .stored)
        #expect(try await storage.store(metrics, of: nil) == .stored)
        #expect(try await count(in: storage) == 6)
    }

    @Test func anIdIsForgottenSomeTimeAfterItsAgeAndNotBefore() async throws {
        var limits = SQLiteLimits()
        limits.batchAge = 100
        let clock = Clock()
        let storage = try SQLiteStorage(path: folder.path("aged.sqlite"), limits: limits, now: { clock.time })
        let metrics = [Samples.metrics(requests: 1, captured: 1, end: 10)]
        #expect(try await storage.store(metrics, of: batch) == .stored)
        clock.time = 1100
        #expect(try await storage.store(metrics, of: batch) == .duplicate)
        // It makes room for what is new.
        clock.time = 1101
        let another = BatchID(instance: "i-2", sequence: 1, signal: .metrics)
        #expect(try await storage.store(metrics, of: another) == .stored)
        #expect(try await storage.store(metrics, of: batch) == .stored)
        #expect(try await storage.store(metrics, of: batch) == .duplicate)
    }

    @Test func anInstanceThatGoesOnSendingForgetsWhatIsPastItsAgeToo() async throws {
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
