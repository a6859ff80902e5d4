import Foundation
import GRDB
import MartletStorage

/// Copies stores, each in one transaction of SQLite. A copy is a snapshot of one moment and has no free pages.
package enum StoreBackup {
    /// Writes a copy of a store to a new file. A collector may use the store at the same time.
    ///
    /// - Returns: the bytes of the copy.
    /// - Throws: ``StorageFailure`` if the file exists, or if one of the two cannot be used.
    package static func backUp(_ path: String, to file: String) throws -> UInt64 {
        try StoreFile.inspect(path, forReading: true)
        guard try StoreFile.makeFile(file, O_EXCL) else {
            throw StorageFailure("\(file) exists already, and a backup overwrites nothing")
        }
        do {
            try copy(path, to: file + ".partial")
            try move(file + ".partial", to: file)
        } catch {
            try? FileManager.default.removeItem(atPath: file)
            throw error
        }
        return StoreSize.bytes(ofFile: file)
    }

    /// Moves a store aside and puts a copy of a backup in its place.
    ///
    /// - Returns: the path of the former store; `nil` if there was none.
    ///
    /// - Throws: ``StorageFailure`` if a collector uses the store, a store that was moved aside earlier is in the way, or the
    ///   backup cannot be used. The store is then unchanged.
    package static func restore(_ backup: String, to path: String) throws -> String? {
        try StoreFile.inspect(backup, forReading: true)
        try check(backup)
        try StoreFile.makeFolder(of: path)
        let path = StoreFile.resolve(path)
        guard StoreFile.resolve(backup) != path else { throw StorageFailure("\(backup) is the store itself") }
        let lock = try StoreLock(of: path)
        defer { lock.release() }
        let former = path + ".former"
        guard !FileManager.default.fileExists(atPath: former) else {
            throw StorageFailure("\(former) is still there from an earlier restore; move or delete it first")
        }
        try copy(backup, to: path + ".partial")
        let hadStore = FileManager.default.fileExists(atPath: path)
        let owner = hadStore ? path : URL(fileURLWithPath: path).deletingLastPathComponent().path
        for file in [path + ".partial", path + "-lock"] { try give(file, toOwnerOf: owner) }
        if hadStore { try moveStore(path, to: former) }
        try move(path + ".partial", to: path)
        return hadStore ? former : nil
    }

    /// Copies a store into a temporary file. Replaces a file that an earlier attempt left.
    private static func copy(_ path: String, to file: String) throws {
        try? FileManager.default.removeItem(atPath: file)
        do {
            guard try StoreFile.makeFile(file, O_EXCL) else { throw StorageFailure("\(file) is in the way") }
            try StoreFile.reading(path) {
                try $0.inDatabase { try $0.execute(sql: "VACUUM INTO ?", arguments: [file]) }
            }
            try renewID(of: file)
            try sync(file)
        } catch {
            try? FileManager.default.removeItem(atPath: file)
            throw error
        }
    }

    private static func renewID(of file: String) throws {
        try StoreFile.describingErrors(of: file) {
            let queue = try DatabaseQueue(path: file)
            defer { try? queue.close() }
            try queue.write(StoreID.renew)
        }
    }

    /// Throws if the file is damaged. Reads the whole file, which takes some seconds for a gigabyte.
    private static func check(_ path: String) throws {
        let result = try StoreFile.reading(path) {
            try $0.inDatabase { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        }
        guard result == "ok" else { throw StorageFailure("\(path) is damaged: \(result ?? "no answer")") }
    }

    /// Moves a store with its log, which may contain batches that the file does not have yet.
    private static func moveStore(_ path: String, to other: String) throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            try move(path + suffix, to: other + suffix)
        }
    }

    /// Gives a file to the owner of another file, if this process runs as root. The collector may run as another user.
    private static func give(_ file: String, toOwnerOf other: String) throws {
        var info = stat()
        guard geteuid() == 0, stat(other, &info) == 0 else { return }
        // If someone has put a link in the file's place, only the link changes its owner, not its target.
        guard lchown(file, info.st_uid, info.st_gid) == 0 else {
            throw StorageFailure(errno, "\(file) cannot be given to the store's owner")
        }
    }

    private static func move(_ file: String, to path: String) throws {
        guard rename(file, path) == 0 else {
            throw StorageFailure(errno, "\(file) cannot be moved to \(path)")
        }
        try sync(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }

    /// Syncs a file, or the entries of a folder, to the disk.
    private static func sync(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw StorageFailure(errno, "\(path) cannot be written to the disk")
        }
    }
}
