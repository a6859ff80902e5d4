import Foundation
import GRDB
import MartletStorage
import Synchronization

/// Makes and checks the file of a store before it is opened.
enum StoreFile {
    /// The size of the smallest database, in bytes: one page.
    private static let minSize = 512

    /// Creates the directory and an empty file if they are missing. Only the owner may read them, because endpoints and addresses
    /// are private. SQLite gives its log the file's permissions. A link is followed, even to a missing file.
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

    /// Creates an empty file that only the owner may read.
    ///
    /// - Parameter flags: `O_EXCL` to create no file if the path exists.
    ///
    /// - Returns: `false` if `flags` has `O_EXCL` and the path exists.
    static func makeFile(_ path: String, _ flags: Int32 = 0) throws -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flags, 0o600)
        if descriptor < 0, errno == EEXIST { return false }
        guard descriptor >= 0 else {
            throw StorageFailure(errno, "\(path) cannot be created")
        }
        close(descriptor)
        return true
    }

    /// Returns the path without links.
    static func resolve(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

    /// Throws unless the path leads to an empty file or to one that can be a database. Does not open the file: a pipe would block,
    /// and SQLite treats a file of one byte as an empty one.
    private static func inspectKind(of path: String) throws {
        var info = stat()
        guard stat(path, &info) == 0 else {
            throw StorageFailure(errno, "\(path) cannot be read")
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

    /// Throws if the file is not a store of Martlet, has the schema of another version, or is damaged. Changes nothing.
    ///
    /// - Parameter forReading: whether the file and all its tables must exist, because a reader cannot create them.
    static func inspect(_ path: String, forReading: Bool) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            if forReading { throw StorageFailure("there is no store at \(path)") }
            return
        }
        try inspectKind(of: path)
        try reading(path) { try $0.read { db in try inspect(db, path: path, forReading: forReading) } }
    }

    /// Opens a file only for reading. Waits while another process briefly locks it.
    static func reading<Value>(_ path: String, _ work: (DatabaseQueue) throws -> Value) throws -> Value {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        return try describingErrors(of: path) {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            return try work(queue)
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
            case _ where error.isFullDisk(at: path):
                throw StorageFailure("\(path) cannot be opened: the disk is full", isFullDisk: true)
            case .SQLITE_CANTOPEN: throw StorageFailure("\(path) cannot be opened\(refusal(of: path))")
            default: throw StorageFailure("\(path) cannot be used as a store: \(error.message ?? "\(error)")")
            }
        }
    }

    /// Returns the system's reason why a file or its folder cannot be written, after a colon; empty if the system gives none.
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

    /// Reveals a damaged schema and damaged roots of tables. Other damage is found when the damaged part is read. Reading the
    /// whole file would take longer the larger it is.
    private static func readOneRowOfEachTable(_ db: Database) throws {
        let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        for table in tables { _ = try Row.fetchOne(db, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier) LIMIT 1") }
    }
}

extension StorageFailure {
    /// A failure of a system call, by its error number.
    init(_ number: Int32, _ failure: String) { self.init("\(failure): \(String(cString: strerror(number)))") }
}

/// The identity of a store's open files. If one of them is moved or deleted, SQLite keeps writing to it, and no later start finds
/// these writes.
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

    /// - Parameter path: the path of an open store, without links.
    init(of path: String) throws {
        self.path = path
        files = ["", "-wal", "-shm"].reduce(into: [:]) { $0[$1] = File(path + $1) }
        guard files[""] != nil else { throw Self.failure(path) }
    }

    /// Throws ``StorageFailure`` if the path leads to other files, or to none. Succeeds again once the files are moved back.
    func check() throws {
        for (suffix, file) in files where File(path + suffix) != file { throw Self.failure(path + suffix) }
    }

    private static func failure(_ path: String) -> StorageFailure {
        StorageFailure(
            "\(path) was moved, replaced or deleted while the collector uses it; nothing more is stored until it is back or "
                + "the collector is restarted")
    }
}

/// One collector's lock on a store, held on the neighbouring file `collector.sqlite-lock`. The kernel releases it whenever and
/// however the process ends. Commands that only read need no lock. Safe to use from any task.
final class StoreLock: Sendable {
    private let file: Mutex<FileHandle?>

    /// Throws ``StorageFailure`` if another collector has the store.
    ///
    /// - Parameter path: the store's path without links.
    init(of path: String) throws {
        let descriptor = open(path + "-lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw StorageFailure(errno, "\(path)-lock cannot be opened")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw StorageFailure("\(path) is in use by another collector; each collector needs its own store")
        }
        self.file = Mutex(file)
    }

    /// Releases the lock. Deinitialization does the same.
    func release() {
        file.withLock { file in
            // A child that another thread has just forked also holds the lock until it executes its program.
            if let file { _ = flock(file.fileDescriptor, LOCK_UN) }
            try? file?.close()
            file = nil
        }
    }

    deinit { release() }
}

/// The SQLite settings that differ from the defaults.
enum Pragmas {
    /// Configures the writer's connection. `page_size` and `auto_vacuum` keep their defaults; an existing file keeps its own
    /// values.
    ///
    /// `page_size` is 4 KiB. A batch of 50 points fills about one page, and a commit writes each changed page in full. So larger
    /// pages would make small commits more expensive.
    ///
    /// `auto_vacuum` is off. Retention frees about as many pages as new points take, and SQLite uses free pages first. To return
    /// them it would have to move other pages, in a file that will grow again. After retention has been shortened, `VACUUM` shrinks
    /// the file.
    static func configureWriter(_ db: Database) throws {
        // GRDB sets NORMAL, which may lose the last transactions in a power cut.
        try db.execute(sql: "PRAGMA synchronous = FULL")
        // A checkpoint writes the log to the file at 16 MiB instead of 4. Most commits touch the pages of indices and of the batch
        // streams; these are then written a quarter as often.
        try db.execute(sql: "PRAGMA wal_autocheckpoint = 4096")
        // A long report prevents a reset of the log. Afterwards the log shrinks to this size.
        try db.execute(sql: "PRAGMA journal_size_limit = 67108864")
    }

    /// Configures each connection, reading or writing.
    ///
    /// `mmap_size` stays 0: in a mapped file, a disk error is a signal that ends the process.
    static func configure(_ db: Database) throws {
        // 4 MiB for each connection hold the inner pages of the indices. Points are read once, and the kernel caches them.
        try db.execute(sql: "PRAGMA cache_size = -4096")
        // Sorts are small (the chunks of one minute). In memory, they leave no files next to the store after a kill.
        try db.execute(sql: "PRAGMA temp_store = MEMORY")
    }
}
