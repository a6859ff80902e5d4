import Fixtures
import Foundation
import MartletSQLiteStorage
import MartletStorage
import Testing

@Suite struct StoreBackupTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.path("collector.sqlite") }
    private var backup: String { folder.path("backup.sqlite") }

    private func captured(_ path: String) async throws -> [UInt64?] {
        try await SQLiteStorage(readingFrom: path).agents().map(\.ledger?.captured)
    }

    private func store(_ requests: Int, captured: UInt64, in storage: SQLiteStorage) async throws {
        _ = try await storage.store(
            [Samples.metrics(requests: requests, captured: captured, end: captured + 10)], of: nil)
    }

    private func refusal(_ work: () throws -> Void) -> String {
        do {
            try work()
            return "accepted"
        } catch {
            return "\(error)"
        }
    }

    @Test func backupShowsOneMomentAndOnlyItsOwnerMayReadIt() async throws {
        let storage = try SQLiteStorage(path: path)
        try await store(2, captured: 2, in: storage)
        let bytes = try StoreBackup.backUp(path, to: backup)
        try await store(1, captured: 3, in: storage)
        #expect(try await captured(backup) == [2])
        let attributes = try FileManager.default.attributesOfItem(atPath: backup)
        #expect(attributes[.size] as? Int == Int(bytes))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(!FileManager.default.fileExists(atPath: backup + ".partial"))
    }

    @Test func backupOverwritesNothing() async throws {
        try SQLiteStorage(path: path).close()
        try Data("dear diary".utf8).write(to: URL(fileURLWithPath: backup))
        #expect(refusal { _ = try StoreBackup.backUp(path, to: backup) }.contains("exists already"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == Data("dear diary".utf8))
        #expect(
            refusal { _ = try StoreBackup.backUp(folder.path("none.sqlite"), to: path) }.contains("there is no store"))
    }

    @Test func restoredStoreEqualsTheBackupAndTheFormerOneIsKept() async throws {
        let storage = try SQLiteStorage(path: path)
        try await store(2, captured: 2, in: storage)
        _ = try StoreBackup.backUp(path, to: backup)
        try await store(1, captured: 3, in: storage)
        #expect(refusal { _ = try StoreBackup.restore(backup, to: path) }.contains("in use by another collector"))
        try storage.close()

        #expect(try StoreBackup.restore(backup, to: path) == path + ".former")
        #expect(try await captured(path) == [2])
        #expect(try await captured(path + ".former") == [3])
        let restored = try SQLiteStorage(path: path)
        try await store(1, captured: 4, in: restored)
        try restored.close()
        #expect(try await captured(backup) == [2])
        #expect(refusal { _ = try StoreBackup.restore(backup, to: path) }.contains("is still there"))
        #expect(try await captured(path) == [4])
    }

    @Test func storeIsRestoredWhereNoneExists() async throws {
        let storage = try SQLiteStorage(path: path)
        try await store(2, captured: 2, in: storage)
        _ = try StoreBackup.backUp(path, to: backup)
        let other = folder.path("new/collector.sqlite")
        #expect(try StoreBackup.restore(backup, to: other) == nil)
        #expect(try await captured(other) == [2])
    }

    /// The collector's service runs as this user, and root restores its store.
    @Test(.enabled(if: geteuid() == 0, "only root may give files away"))
    func restoredStoreBelongsToTheOwnerOfTheFormerOneOrOfTheFolder() async throws {
        let (user, group): (UInt32, UInt32) = (65_534, 65_533)
        let storage = try SQLiteStorage(path: path)
        try await store(2, captured: 2, in: storage)
        _ = try StoreBackup.backUp(path, to: backup)
        try storage.close()
        #expect(chown(path, user, group) == 0)
        _ = try StoreBackup.restore(backup, to: path)
        let other = folder.path("new/collector.sqlite")
        try FileManager.default.createDirectory(atPath: folder.path("new"), withIntermediateDirectories: false)
        #expect(chown(folder.path("new"), user, group) == 0)
        _ = try StoreBackup.restore(backup, to: other)
        for file in [path, other, path + "-lock", other + "-lock"] {
            var info = stat()
            #expect(stat(file, &info) == 0)
            #expect((info.st_uid, info.st_gid) == (user, group), "\(file)")
        }
    }

    @Test func damagedBackupIsRefusedAndTheStoreIsUnchanged() async throws {
        let storage = try SQLiteStorage(path: path)
        for end in 1...400 as ClosedRange<UInt64> { try await store(1, captured: end, in: storage) }
        _ = try StoreBackup.backUp(path, to: backup)
        try storage.close()
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: backup))
        let pages = try file.seekToEnd() / 4096
        try file.seek(toOffset: (pages - 2) * 4096)
        try file.write(contentsOf: Data(repeating: 0xab, count: 4096))
        try file.close()
        #expect(refusal { _ = try StoreBackup.restore(backup, to: path) }.contains("is damaged"))
        #expect(refusal { _ = try StoreBackup.restore(folder.path("none"), to: path) }.contains("there is no store"))
        #expect(try await captured(path) == [400])
        #expect(!FileManager.default.fileExists(atPath: path + ".former"))
    }
}
