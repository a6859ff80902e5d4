import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    @Suite struct DuplicateBatchTests {
        private let folder: TemporaryFolder
        private let storage: any Storage
        private let batch = BatchID(instance: "i-1", sequence: 1, signal: .metrics)

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
        }

        private func count() async throws -> UInt64 {
            let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: []))
            return answer.groups.reduce(0) { $0 + $1.count }
        }

        @Test func batchSentTwiceCountsOnce() async throws {
            let metrics = [Samples.metrics(requests: 3, captured: 3, end: 10)]
            #expect(try await storage.store(metrics, of: batch) == .stored)
            #expect(try await storage.store(metrics, of: batch) == .duplicate)
            #expect(try await count() == 3)
        }

        @Test func manySimultaneousCopiesOfABatchCountOnce() async throws {
            let (storage, batch) = (storage, batch)
            let stored = try await withThrowingTaskGroup(of: StoreOutcome.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await storage.store([Samples.metrics(requests: 3, captured: 3, end: 10)], of: batch)
                    }
                }
                return try await group.reduce(0) { $0 + ($1 == .stored ? 1 : 0) }
            }
            #expect(stored == 1)
            #expect(try await count() == 3)
        }

        @Test func batchesDifferByInstanceSequenceAndSignal() async throws {
            let metrics = [Samples.metrics(requests: 1, captured: 1, end: 10)]
            for (instance, sequence) in [("i-1", UInt64(1)), ("i-2", 1), ("i-1", 2), ("i-1", UInt64.max)] {
                let batch = BatchID(instance: instance, sequence: sequence, signal: .metrics)
                #expect(try await storage.store(metrics, of: batch) == .stored)
            }
            let traces = BatchID(instance: "i-1", sequence: 1, signal: .traces)
            #expect(try await storage.store([DetailsBatch](), of: traces) == .stored)
            #expect(try await count() == 4)
        }

        @Test func resentPointsOfASenderWithoutBatchNumbersCountOnce() async throws {
            for (end, values, outcome) in [
                (UInt64(10), [0.2, 0.3], StoreOutcome.stored), (10, [0.2, 0.3], .duplicate), (10, [0.2, 0.4], .stored),
                (20, [0.2, 0.3], .stored), (20, [0.2, 0.3], .duplicate),
            ] {
                var resource = Samples.resource()
                resource.agent = "opentelemetry 1.38"
                let point = Samples.point(Samples.dimensions(), values, end: end)
                #expect(
                    try await storage.store([InstanceMetrics(resource: resource, points: [point])], of: nil) == outcome)
            }
            #expect(try await count() == 6)
        }

        @Test func everyBatchWithoutAnIDIsNew() async throws {
            let metrics = [Samples.metrics(requests: 3, captured: 3, end: 10)]
            #expect(try await storage.store(metrics, of: nil) == .stored)
            #expect(try await storage.store(metrics, of: nil) == .stored)
            #expect(try await count() == 6)
        }
    }
}
