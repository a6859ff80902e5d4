import Fixtures
import Foundation
import GRDB
import HummingbirdTesting
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// A store's file with pages that the disk has changed.
@Suite struct StoreDamageTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.path("collector.sqlite") }

    /// Overwrites the first page of a table or an index, in a store with one batch.
    private func damage(_ name: String) async throws {
        let storage = try SQLiteStorage(path: path)
        _ = try await storage.store([Samples.metrics(end: 10)], of: nil)
        try storage.close()
        let queue = try DatabaseQueue(path: path)
        let page = try await queue.read {
            try UInt64.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [name])
        }
        try queue.close()
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seek(toOffset: (try #require(page) - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xab, count: 4096))
        try file.close()
    }

    @Test(arguments: ["chunk", "series", "sqlite_master"]) func fileDamagedAtStartIsRefusedAndUnchanged(
        table: String
    ) async throws {
        try await damage(table == "sqlite_master" ? "resource" : table)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let failure = #expect(throws: StorageFailure.self) { try SQLiteStorage(path: path) }
        #expect(failure?.description.contains("is damaged") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func damageFoundLaterEndsIntakeAndReadiness() async throws {
        try await damage("chunk_by_end")
        try await withServer(store: path) { client async throws in
            #expect(try await client.get("/readyz").status == .ok)
            #expect(try await client.post(try Samples.body()).status == .serviceUnavailable)
            #expect(try await client.get("/readyz").status == .serviceUnavailable)
            #expect(try await client.post(try Samples.body()).status == .serviceUnavailable)
            #expect(try await client.get("/healthz").status == .ok)
        }
    }
}
