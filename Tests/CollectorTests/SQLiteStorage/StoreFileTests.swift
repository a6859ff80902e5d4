import Fixtures
import Foundation
import GRDB
import MartletStorage
import Testing

@testable import MartletSQLiteStorage

@Suite struct StoreFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func refusal(of path: String) -> String {
        do {
            _ = try SQLiteStorage(path: path)
            return "accepted"
        } catch {
            return "\(error)"
        }
    }

    @Test func fileThatIsNotADatabaseIsRefusedAndUnchanged() throws {
        let path = folder.path("notes.txt")
        let text = Data(String(repeating: "dear diary\n", count: 1000).utf8)
        try text.write(to: URL(fileURLWithPath: path))
        #expect(refusal(of: path).contains("is not a database"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == text)
    }

    @Test(arguments: [1, 511]) func fileTooShortForADatabaseIsRefusedAndUnchanged(bytes: Int) throws {
        let path = folder.path("short")
        let text = Data(repeating: 0, count: bytes)
        try text.write(to: URL(fileURLWithPath: path))
        #expect(refusal(of: path).contains("is not a database"))
        #expect(throws: StorageFailure.self) { try SQLiteStorage(readingFrom: path) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == text)
    }

    @Test func pipesDevicesAndFoldersAreRefusedAtOnce() throws {
        let pipe = folder.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/null", folder.url.path] {
            #expect(refusal(of: path).contains("is no ordinary file"))
            #expect(throws: StorageFailure.self) { try SQLiteStorage(readingFrom: path) }
        }
    }

    @Test func linkToAMissingFileIsFollowedAndKept() async throws {
        let (link, target) = (folder.path("link.sqlite"), folder.path("target.sqlite"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        let storage = try SQLiteStorage(path: link)
        _ = try await storage.store([Samples.metrics(end: 10)], of: nil)
        try storage.close()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == target)
        #expect(try await SQLiteStorage(readingFrom: target).agents().count == 1)
    }

    @Test func secondCollectorIsRefusedUnderEveryAliasOfTheFile() throws {
        let (path, link) = (folder.path("collector.sqlite"), folder.path("link.sqlite"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let first = try SQLiteStorage(path: path)
        for name in [path, link] { #expect(refusal(of: name).contains("in use by another collector")) }
        #expect(throws: Never.self) { try SQLiteStorage(readingFrom: path) }
        try first.close()
        #expect(refusal(of: path) == "accepted")
    }

    @Test func storeWithTwoHardLinksIsRefused() throws {
        let path = folder.path("collector.sqlite")
        try SQLiteStorage(path: path).close()
        #expect(link(path, folder.path("other.sqlite")) == 0)
        #expect(refusal(of: path).contains("hard links"))
    }

    @Test func databaseOfAnotherProgramIsRefusedAndUnchanged() throws {
        let path = folder.path("photos.sqlite")
        try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE photo (id INTEGER)") }
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(refusal(of: path).contains("another program than Martlet"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test(arguments: ["another migration", "tables of the first release"])
    func storeOfANewerOrUnreleasedMartletIsRefusedAndUnchanged(migration: String) throws {
        let path = folder.path("other.sqlite")
        try SQLiteStorage(path: path).close()
        try DatabaseQueue(path: path).writeWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [migration])
            try db.checkpoint(.truncate)
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(refusal(of: path).contains("made by a newer version of Martlet, or before the first release"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func readersRefuseAStoreUntilItHasTables() throws {
        let path = folder.path("begun.sqlite")
        try DatabaseQueue(path: path).writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
        }
        #expect(throws: StorageFailure.self) { try SQLiteStorage(readingFrom: path) }
        try SQLiteStorage(path: path).close()
        #expect(throws: Never.self) { try SQLiteStorage(readingFrom: path) }
    }

    @Test func readingAMissingFileDoesNotCreateIt() {
        let path = folder.path("missing.sqlite")
        #expect(throws: StorageFailure.self) { try SQLiteStorage(readingFrom: path) }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func storeIsReadableWhileAnotherProcessWrites() async throws {
        let path = folder.path("collector.sqlite")
        let writer = try SQLiteStorage(path: path)
        _ = try await writer.store([Samples.metrics(requests: 2, captured: 2, end: 10)], of: nil)
        let reader = try SQLiteStorage(readingFrom: path)
        #expect(try await reader.agents().map(\.ledger?.captured) == [2])
        _ = try await writer.store([Samples.metrics(requests: 1, captured: 3, end: 20)], of: nil)
        #expect(try await reader.agents().map(\.ledger?.captured) == [3])
    }

    @Test func onlyTheOwnerMayUseFileAndFolder() throws {
        let path = folder.path("new/collector.sqlite")
        let storage = try SQLiteStorage(path: path)
        defer { try? storage.close() }
        func rights(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try rights(folder.path("new")) == 0o700)
        for name in ["collector.sqlite", "collector.sqlite-wal"] {
            #expect(try rights(folder.path("new/" + name)) == 0o600)
        }
    }
}
