import Fixtures
import Foundation
import HummingbirdTesting
import MartletStorage
import Testing

@testable import MartletSQLiteStorage

/// A store whose file is moved away while it is in use.
@Suite struct MovedStoreTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.path("collector.sqlite") }

    @Test(arguments: ["", "-wal"]) func nothingIsAcknowledgedWhileTheFileIsMovedAway(
        suffix: String
    ) async throws {
        try await withServer(store: path) { [path] client async throws in
            #expect(try await client.post(try Samples.body()).status == .ok)
            rename(path + suffix, path + suffix + ".aside")
            #expect(try await client.post(try Samples.body()).status == .serviceUnavailable)
            #expect(try await client.get("/readyz").status == .serviceUnavailable)
            rename(path + suffix + ".aside", path + suffix)
            #expect(try await client.post(try Samples.body(), batch: "i-1/1/metrics").status == .ok)
            #expect(try await client.get("/readyz").status == .ok)
        }
    }

    @Test func nothingIsAcknowledgedAfterTheFileWasDeletedOrReplaced() async throws {
        let storage = try SQLiteStorage(path: path)
        _ = try await storage.store([Samples.metrics(end: 10)], of: nil)
        for replacement in [nil, Data()] {
            try? FileManager.default.removeItem(atPath: path)
            try replacement?.write(to: URL(fileURLWithPath: path))
            let failure = await #expect(throws: StorageFailure.self) {
                try await storage.store([Samples.metrics(end: 20)], of: nil)
            }
            #expect(failure?.description.contains("was moved, replaced or deleted") == true)
        }
    }

    @Test func nothingIsAcknowledgedIfTheFileIsMovedDuringTheCommit() async throws {
        let storage = try SQLiteStorage(path: path)
        let failure = await #expect(throws: StorageFailure.self) {
            try await storage.commit(bytes: 1) { [path] _ in
                rename(path, path + ".aside")
                return StoredBatch(outcome: .stored)
            }
        }
        #expect(failure?.description.contains("was moved, replaced or deleted") == true)
    }
}
