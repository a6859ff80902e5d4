import Foundation
import GRDB
import MartletStorage
import Synchronization

/// Makes and checks the file of a store before it is opened.
enum StoreFile {
    /// The size of the smallest database, in bytes: one page.
    private static let minSize = 512

    /// Makes the directory and an empty file if they are missing, for the owner alone: endpoints and addresses are private.
    /// SQLite gives its log the rights of the file. A link is followed, also to a file that is missing.
    ///
    /// - Returns: the path without links.
    static func make(_ path: String) throws -> String {
        try makeFolder(of: path)
        if !FileManager.default.fileExists(atPath: path) { _ = try makeFile(path) }
        return resolve(path)
    }

    static func makeFolder(of path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StorageFailure("the store's folder \(folder) cannot be created: \(error.localizedDescription)")
        }
    }

    /// Makes an empty file for the owner alone.
    ///
    /// - Parameter flags: `O_EXCL` to make no file if anything is at the path.
    /// - Returns: `false` if something is.
    static func makeFile(_ path: String, _ flags: Int32 = 0) throws -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flags, 0o600)
        if descriptor < 0, errno == EEXIST { return false }
        guard descriptor >= 0 else {
            throw StorageFailure("\(path) cannot be created: \(String(cString: strerror(errno)))")
        }
        close(descriptor)
        return true
    }

    /// Returns the path without links.
    static func resolve(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

    /// Throws if the path leads to anything but an empty file or one that can be a database. It is not opened: a pipe would
    /// keep its opener waiting, and SQLite takes a file of one byte for an empty one.
    private static func inspectKind(of path: String) throws {
        var info = stat()
        guard stat(path, &info) == 0 else {
            throw StorageFailure("\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        guard info.st_mode & S_IFMT == S_IFREG else {
            throw StorageFailure("\(path) is no ordinary file, so it cannot be a store")
        }
        guard info.st_size == 0 || info.st_size >= minSize else {
            throw StorageFailure("\(path) is not a database; it was not changed")
        }
        guard info.st_nlink <= 1 else {
            throw StorageFailure("\(path) has several hard links; SQLite would keep a log for each of them")
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
        try inspectKind(of: path)
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
            case _ where error.isOfFullDisk(at: path):
                throw StorageFailure("\(path) cannot be opened: the disk is full", isOfFullDisk: true)
            case .SQLITE_CANTOPEN: throw StorageFailure("\(path) cannot be opened\(refusal(of: path))")
            default: throw StorageFailure("\(path) cannot be used as a store: \(error.message ?? "\(error)")")
            }
        }
    }

    /// Returns the system's reason why a file or its folder cannot be written, after a colon; empty if it has none.
    private static func refusal(of path: String) -> String {
        for path in [path, URL(fileURLWithPath: path).deletingLastPathComponent().path]
        where access(path, R_OK | W_OK) != 0 {
            return ": " + String(cString: strerror(errno))
        }
        return ""
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

/// The files that a store has open. If one of them is moved or deleted, SQLite goes on writing to it, and no later start finds
/// what was written.
struct StoreIdentity: Sendable {
    private struct File: Equatable {
        let device: UInt64
        let inode: UInt64

        /// Returns `nil` if nothing is at the path.
        init?(_ path: String) {
            var info = stat()
            guard stat(path, &info) == 0 else { return nil }
            (device, inode) = (UInt64(info.st_dev), UInt64(info.st_ino))
        }
    }

    private let path: String
    private let files: [String: File]

    /// - Parameter path: the path of a store that is open, without links.
    init(of path: String) throws {
        self.path = path
        files = ["", "-wal", "-shm"].reduce(into: [:]) { $0[$1] = File(path + $1) }
        guard files[""] != nil else { throw Self.failure(path) }
    }

    /// Throws ``StorageFailure`` if the path leads to other files, or to none. It holds again once they are moved back.
    func check() throws {
        for (suffix, file) in files where File(path + suffix) != file { throw Self.failure(path + suffix) }
    }

    private static func failure(_ path: String) -> StorageFailure {
        StorageFailure(
            "\(path) was moved, replaced or deleted while the collector uses it; nothing more is stored until it is back or "
                + "the collector is restarted")
    }
}

/// The claim of one collector to a store: a lock on a file beside it, `collector.sqlite-lock`. The kernel releases it when the
/// process ends, in whatever way. The commands that only read need no claim. Safe to use from any task.
final class StoreLock: Sendable {
    private let file: Mutex<FileHandle?>

    /// Throws ``StorageFailure`` if another collector has the store.
    ///
    /// - Parameter path: the store's path without links.
    init(of path: String) throws {
        let descriptor = open(path + "-lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw StorageFailure("\(path)-lock cannot be opened: \(String(cString: strerror(errno)))")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw StorageFailure("\(path) is in use by another collector; each collector needs its own store")
        }
        self.file = Mutex(file)
    }

    /// Ends the claim; the end of the value does so too.
    func release() {
        file.withLock { file in
            // A child that another thread has just forked has the lock as well until it executes its program.
            if let file { _ = flock(file.fileDescriptor, LOCK_UN) }
            try? file?.close()
            file = nil
        }
    }

    deinit { release() }
}

/// The settings of SQLite that differ from its defaults.
enum Pragmas {
    /// Configures the writer's connection. `page_size` and `auto_vacuum` keep their defaults; an existing file keeps its own
    /// values.
    ///
    /// `page_size` is 4 KiB: a batch of 50 points fills about one page, and a commit writes each page that it touches whole,
    /// so larger pages would make small commits dearer.
    ///
    /// `auto_vacuum` is off: retention frees about as many pages as new points take, and SQLite uses free pages first. To
    /// give them back it would have to move other pages, in a file that grows again. After retention was shortened, `VACUUM`
    /// makes the file small.
    static func configureWriter(_ db: Database) throws {
        // GRDB sets NORMAL, which may lose the last transactions in a power cut.
        try db.execute(sql: "PRAGMA synchronous = FULL")
        // The log grows to 16 MiB instead of 4 before a checkpoint writes it to the file: pages that most commits touch, those of
        // indices and of the streams of batches, are written a quarter as often.
        try db.execute(sql: "PRAGMA wal_autocheckpoint = 4096")
        // A long report keeps the log from being reset. The log then shrinks to this size.
        try db.execute(sql: "PRAGMA journal_size_limit = 67108864")
    }

    /// Configures each connection, reading or writing.
    ///
    /// `mmap_size` stays 0: in a mapped file an error of the disk is a signal that ends the process.
    static func configure(_ db: Database) throws {
        // 4 MiB for each connection hold inner pages of the indices; points are read once, and the kernel caches them.
        try db.execute(sql: "PRAGMA cache_size = -4096")
        // Sorts are small (the chunks of one minute), and a kill then leaves no files beside the store.
        try db.execute(sql: "PRAGMA temp_store = MEMORY")
    }
}
