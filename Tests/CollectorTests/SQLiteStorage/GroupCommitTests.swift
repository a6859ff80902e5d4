import Fixtures
import GRDB
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// Batches that arrive during a transaction. A second connection holds the writer's lock until the queue is full.
@Suite struct GroupCommitTests {
    private let folder: TemporaryFolder
    private let storage: SQLiteStorage
    private let waiting = 10

    init() throws {
        folder = try TemporaryFolder()
        var limits = SQLiteLimits()
        limits.maxWaitingBatches = waiting
        storage = try SQLiteStorage(path: folder.path("collector.sqlite"), limits: limits)
    }

    private var path: String { folder.path("collector.sqlite") }

    /// Stores one request of each service at the same time, and returns the outcomes by service. Batches past the limit have no
    /// room.
    private func storeAtOnce(_ services: [String]) async throws -> [String: String] {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let lock = try DatabaseQueue(path: path, configuration: configuration)
        try await lock.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let outcomes = await withTaskGroup(of: (String, String).self) { [storage] group in
            func add(_ service: String) {
                group.addTask {
                    do {
                        let metrics = Samples.metrics(end: 10, resource: Samples.resource(service))
                        return (service, "\(try await storage.store([metrics], of: nil))")
                    } catch is StorageBusy {
                        return (service, "busy")
                    } catch {
                        return (service, "failed")
                    }
                }
            }
            for service in services { add(service) }
            // These batches exceed the limit, so the first answer is a refusal.
            for number in 0..<waiting { add("extra-\(number)") }
            var outcomes: [String: String] = [:]
            if let (service, outcome) = await group.next() { outcomes[service] = outcome }
            try? await lock.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
            for await (service, outcome) in group { outcomes[service] = outcome }
            return outcomes
        }
        try lock.close()
        return outcomes
    }

    private func storedServices() async throws -> Set<String> {
        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: [.service]))
        return Set(answer.groups.compactMap { $0.count == 1 ? $0.values[0] : nil })
    }

    @Test func transactionExpectsTheBatchesOfTheLastOneAndTheWaitingOnes() {
        #expect(!ExpectedBatches().areMore(than: 1))
        let two = ExpectedBatches(after: 1, with: 1)
        #expect(two.areMore(than: 1) && !two.areMore(than: 2))
        let five = ExpectedBatches(after: 3, with: 2)
        #expect(five.areMore(than: 4) && !five.areMore(than: 5))
        // A sender that remains the only one waits once.
        #expect(!ExpectedBatches(after: 1, with: 0).areMore(than: 1))
    }

    /// The hour's wait would outlast the test.
    @Test func singleSenderDoesNotWaitForOthers() async throws {
        var limits = SQLiteLimits()
        limits.commitDelay = 3600
        let storage = try SQLiteStorage(path: folder.path("alone.sqlite"), limits: limits)
        for sequence in 1...3 {
            let batch = BatchID(instance: "a", sequence: UInt64(sequence), signal: .metrics)
            #expect(try await storage.store([Samples.metrics(end: UInt64(10 * sequence))], of: batch) == .stored)
        }
    }

    @Test func batchesWithoutRoomAreRefusedAndTheOthersStored() async throws {
        let outcomes = try await storeAtOnce((0..<waiting).map { "service-\($0)" })
        #expect(outcomes.values.contains("busy"))
        #expect(!outcomes.values.contains("failed"))
        #expect(try await storedServices() == Set(outcomes.filter { $0.value == "stored" }.keys))
    }

    @Test func failingBatchDoesNotAffectOthers() async throws {
        try await DatabaseQueue(path: path).write {
            try $0.execute(
                sql: """
                    CREATE TRIGGER fail BEFORE INSERT ON series WHEN NEW.service LIKE '%5'
                    BEGIN SELECT RAISE(ABORT, 'no'); END
                    """)
        }
        let outcomes = try await storeAtOnce((0..<waiting).map { "service-\($0)" })
        for (service, outcome) in outcomes {
            #expect(service.hasSuffix("5") ? outcome != "stored" : outcome != "failed")
        }
        #expect(try await storedServices() == Set(outcomes.filter { $0.value == "stored" }.keys))
    }
}
