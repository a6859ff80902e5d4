import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// What `agents` tells of an account, which every batch brings as it was before the batch arrived.
@Suite struct LedgerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func batchesThatArrivedAreDeliveredWhateverTheAccountInThemSaid() async throws {
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
        // An outage: both batches were sealed before the first of them was delivered.
        try await store(requests: 10, Ledger(captured: 10, waiting: 10), at: 10, in: storage)
        try await store(requests: 5, Ledger(captured: 15, waiting: 15), at: 20, in: storage)
        #expect(try await ledger(storage) == Ledger(captured: 15, delivered: 15))
    }

    @Test func whatWasDeliveredToAnotherCollectorIsTakenFromTheAgentsAccount() async throws {
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
        try await store(
            requests: 5, Ledger(captured: 120, delivered: 100, waiting: 13, dropped: [.bufferFull: 7]), at: 10,
            in: storage)
        #expect(
            try await ledger(storage) == Ledger(captured: 120, delivered: 105, waiting: 8, dropped: [.bufferFull: 7]))
    }

    private func store(
        requests: Int, _ ledger: Ledger, at end: UInt64, in storage: SQLiteStorage
    ) async throws {
        var metrics = Samples.metrics(requests: requests, captured: ledger.captured, end: end)
        metrics.ledger = LedgerReading(time: Samples.time(end), ledger: ledger)
        _ = try await storage.store([metrics], of: nil)
    }

    private func ledger(_ storage: SQLiteStorage) async throws -> Ledger? {
        try await storage.agents().first?.ledger?.ledger
    }
}
