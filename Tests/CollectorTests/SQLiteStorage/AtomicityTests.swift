import Fixtures
import GRDB
import HummingbirdTesting
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

/// A store that fails in the middle of a batch keeps nothing of it.
@Suite struct AtomicityTests {
    private let folder: TemporaryFolder
    private let batch = BatchID(instance: "i-1", sequence: 1, signal: .metrics)

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.path("collector.sqlite") }

    /// Makes the insertion of the ledger fail. It is the last step of a batch.
    private func failAtTheLedger() throws {
        try execute("CREATE TRIGGER fail BEFORE INSERT ON ledger BEGIN SELECT RAISE(ABORT, 'no room'); END")
    }

    private func execute(_ sql: String) throws {
        try DatabaseQueue(path: path).write { try $0.execute(sql: sql) }
    }

    /// Killing a process does not show it. Only a power cut loses what was not synced (SQLite documentation, "PRAGMA synchronous").
    @Test func writerSyncsEveryCommit() async throws {
        let storage = try SQLiteStorage(path: path)
        let (synchronous, journal) = try await storage.pool.write { db in
            (try Int.fetchOne(db, sql: "PRAGMA synchronous"), try String.fetchOne(db, sql: "PRAGMA journal_mode"))
        }
        #expect(synchronous == 2, "not FULL")
        #expect(journal == "wal")
    }

    @Test func failedBatchIsForgottenAndCountsWhenResent() async throws {
        let storage = try SQLiteStorage(path: path)
        let metrics = [Samples.metrics(requests: 3, captured: 3, end: 10)]
        try failAtTheLedger()
        await #expect(throws: DatabaseError.self) { try await storage.store(metrics, of: batch) }
        #expect(try await storage.agents().isEmpty)
        try execute("DROP TRIGGER fail")
        #expect(try await storage.store(metrics, of: batch) == .stored)
        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: []))
        #expect(answer.groups.map(\.count) == [3])
    }

    @Test func senderIsAskedToSendAgain() async throws {
        try await withServer(store: path) { client in
            try failAtTheLedger()
            let refused = try await client.post(try Samples.body(), batch: "i-1/1/metrics")
            #expect(refused.status.code == 503)
            #expect(try refused.reason.contains("again"))
            try execute("DROP TRIGGER fail")
            #expect(try await client.post(try Samples.body(), batch: "i-1/1/metrics").status == .ok)
            #expect(try await client.count() == 5)
        }
    }
}
