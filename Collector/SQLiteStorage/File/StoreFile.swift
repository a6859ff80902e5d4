import Foundation
import GRDB
import MartletStorage

/// Makes and checks the file of a store before it is opened.
enum StoreFile {
    /// Makes the directory and an empty file if they are missing, for the owner alone: endpoints and addresses are private.
    /// SQLite gives its log the rights of the file.
    static func make(_ path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StorageFailure("the store's folder \(folder) cannot be created: \(error.localizedDescription)")
        }
        guard !FileManager.default.fileExists(atPath: path) else { return }
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw StorageFailure("the store \(path) cannot be created")
        }
    }

    /// Throws if the file is no store of Martlet, has the schema of another Martlet, or is damaged. Changes nothing.
    ///
    /// - Parameter forReading: whether the file and all its tables have to exist, because a reader cannot make them.
    static func inspect(_ path: String, forReading: Bool) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            if forReading { throw StorageFailure("there is no store at \(path)") }
            return
        }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        try describingErrors(of: path) {
            try DatabaseQueue(path: path, configuration: configuration).read { db in
                try inspect(db, path: path, forReading: forReading)
            }
        }
    }

    static func describingErrors<Value>(of path: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_NOTADB: throw StorageFailure("\(path) is not a database; it was not changed")
            case .SQLITE_CORRUPT:
                throw StorageFailure("\(path) is damaged (\(error.message ?? "\(error)")); it was not changed")
            case .SQLITE_CANTOPEN: throw StorageFailure("\(path) cannot be opened")
            default: throw StorageFailure("\(path) cannot be used as a store: \(error.message ?? "\(error)")")
            }
        }
    }

    private static func inspect(_ db: Database, path: String, forReading: Bool) throws {
        let objects = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        if objects == 0, !forReading { return }
        guard try Int64.fetchOne(db, sql: "PRAGMA application_id") == Schema.applicationID else {
            throw StorageFailure("\(path) is a database of another program than Martlet; it was not changed")
        }
        guard try !Schema.migrator.hasBeenSuperseded(db) else {
            throw StorageFailure(
                "\(path) was made by a newer version of Martlet, or before the first release; it was not changed")
        }
        guard try !forReading || Schema.migrator.hasCompletedMigrations(db) else {
            throw StorageFailure(
                "\(path) was made by an older version of Martlet; start `serve` with it once to bring it up to date")
        }
        try readOneRowOfEachTable(db)
    }

    /// Reveals a damaged schema and damaged roots of tables. Other damage is found when it is read: going through the file
    /// would take longer the larger it is.
    private static func readOneRowOfEachTable(_ db: Database) throws {
        let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        for table in tables { _ = try Row.fetchOne(db, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier) LIMIT 1") }
    }
}
