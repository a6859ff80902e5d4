import Fixtures
import Foundation
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// Processes that share a store.
@Suite struct StoreProcessTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var store: String { folder.path("collector.sqlite") }

    private func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await ChildProcess(.martletCollector, arguments, environment: environment).finish()
    }

    @Test func secondCollectorOnTheStoreFailsUntilTheFirstIsKilled() async throws {
        let first = try await CollectorProcess(store: store)
        await #expect(throws: ChildProcess.Failure.self) { try await CollectorProcess(store: store) }
        let second = try await run(["serve", "--port", "0", "--store", "sqlite:" + store])
        #expect(second.status == 2)
        #expect(second.errors.contains("is in use by another collector"))
        #expect(try await first.post(try Samples.body(), batch: "i-1/1/metrics") == 200)
        #expect(try await run(["agents", "--since", "400d", "--store", "sqlite:" + store]).status == 0)
        await first.kill()
        let third = try await CollectorProcess(store: store)
        #expect(await third.terminate() == 0)
    }

    @Test func backupOfARunningCollectorCanBeRestoredAfterItEnded() async throws {
        let backup = folder.path("backup.sqlite")
        let collector = try await CollectorProcess(store: store)
        #expect(try await collector.post(try Samples.body(), batch: "i-1/1/metrics") == 200)
        let variables = ["MARTLET_COLLECTOR_STORE": "sqlite:" + store]
        let copied = try await run(["backup", backup], environment: variables)
        #expect(copied.status == 0)
        #expect(copied.output.hasPrefix("wrote \(backup) ("))
        #expect(try await collector.post(try Samples.body(), batch: "i-1/2/metrics") == 200)
        let again = try await run(["backup", backup], environment: variables)
        #expect(again.status == 2)
        #expect(again.errors.contains("exists already"))
        let early = try await run(["restore", backup, "--store", "sqlite:" + store])
        #expect(early.status == 2)
        #expect(early.errors.contains("is in use by another collector"))
        #expect(await collector.terminate() == 0)

        let restored = try await run(["restore", backup, "--store", "sqlite:" + store])
        #expect(restored.status == 0)
        #expect(restored.output.contains("the old store is \(store).former"))
        let reader = try SQLiteStorage(readingFrom: store)
        let answer = try await reader.statistics(StatisticsQuery(window: Samples.everything, by: []))
        #expect(answer.groups.map(\.count) == [5])
    }
}
