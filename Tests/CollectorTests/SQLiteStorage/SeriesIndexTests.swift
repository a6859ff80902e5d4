import Fixtures
import GRDB
import MartletStorage
import Synchronization
import Testing

@testable import MartletSQLiteStorage

@Suite struct SeriesIndexTests {
    /// A looked-up service is cached. A service without series would never be removed from the cache.
    @Test func batchWithoutPointsIsNotLookedUp() async throws {
        let folder = try TemporaryFolder()
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
        let statements = Mutex<[String]>([])
        try await storage.pool.writeWithoutTransaction { db in
            db.trace { event in
                if case .statement(let statement) = event { statements.withLock { $0.append(statement.sql) } }
            }
        }
        let idle = Samples.metrics(requests: 0, captured: 0, end: 10)
        #expect(try await storage.store([idle], of: nil) == .stored)
        #expect(statements.withLock { $0.contains { $0.contains("ledger") } })
        #expect(!statements.withLock { $0.contains { $0.contains("series") } })
    }
}
