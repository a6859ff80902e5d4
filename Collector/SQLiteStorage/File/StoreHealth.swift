import Foundation
import GRDB
import MartletStorage
import Synchronization

/// The faults found while the file is in use: damage, and the failure of the latest write. Once damage is found, nothing more
/// is written, so that the rest can be saved and senders keep their batches. Safe to use from any task.
final class StoreHealth: Sendable {
    private struct State {
        var damage: StorageFailure?
        /// The reason why the latest write failed, in a sentence.
        var refusal: String?
    }

    private let state = Mutex(State())
    private let path: String

    init(path: String) {
        self.path = path
    }

    /// See ``Storage/fault``. Anyone may read it, so it contains no path.
    var fault: String? {
        state.withLock { $0.damage == nil ? $0.refusal : "the store is damaged; nothing more is stored in it" }
    }

    var refusesWrites: Bool { state.withLock { $0.refusal != nil } }

    /// Throws once damage has been found.
    func check() throws {
        if let damage = state.withLock({ $0.damage }) { throw damage }
    }

    /// Runs `body` unless the file is damaged, and remembers an error of `body` that reveals damage.
    func watching<Value>(_ body: () async throws -> Value) async throws -> Value {
        try check()
        do {
            return try await body()
        } catch let error as DatabaseError where error.showsDamage {
            let found = StorageFailure(
                "\(path) is damaged: \(error.message ?? "\(error)"); nothing more is stored in it")
            state.withLock { $0.damage = found }
            throw found
        }
    }

    /// Runs `body`, which writes a batch, as ``noting(_:)`` does. If it succeeds, records that the disk accepts batches again.
    func writing<Value>(_ body: () async throws -> Value) async throws -> Value {
        let value = try await noting(body)
        noteRoom()
        return value
    }

    /// Records that the disk accepts batches again.
    func noteRoom() { state.withLock { $0.refusal = nil } }

    /// Runs `body` as ``watching(_:)`` does, and records why the disk refused a write.
    func noting<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await watching(body)
        } catch let error as DatabaseError {
            if let refusal = error.refusal(of: path) { state.withLock { $0.refusal = refusal } }
            throw error
        }
    }
}

extension DatabaseError {
    /// Whether the error reveals a damaged file. A full disk or a lock does not.
    var showsDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }

    /// Whether the error comes from a full disk.
    ///
    /// - Parameter path: the store's path.
    func isFullDisk(at path: String) -> Bool {
        switch resultCode {
        case .SQLITE_FULL: true
        case .SQLITE_IOERR, .SQLITE_CANTOPEN: StoreSize.isDiskFull(near: path)
        default: false
        }
    }

    /// Returns the reason why no batch can be written now; `nil` for a lock or for an error that affects only one batch.
    fileprivate func refusal(of path: String) -> String? {
        switch resultCode {
        case _ where isFullDisk(at: path): "the disk is full; nothing is stored until there is room"
        case .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN:
            "the store cannot be written: \(message ?? "\(resultCode)")"
        default: nil
        }
    }
}

/// The size of a store in bytes, and the free room on its disk. Reading them takes the same time for a store of any size.
enum StoreSize {
    /// Returns the bytes of the pages in use. Free pages do not count, because new rows use them first. The log does not count,
    /// because its pages are written to the file.
    static func bytesInUse(in db: Database) throws -> UInt64 {
        func number(_ pragma: String) throws -> UInt64 {
            UInt64(clamping: try Int64.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0)
        }
        return try (number("page_count") - number("freelist_count")) * number("page_size")
    }

    /// Returns the bytes of a file; a missing file counts as 0.
    static func bytes(ofFile path: String) -> UInt64 {
        var info = stat()
        return stat(path, &info) == 0 ? UInt64(clamping: info.st_size) : 0
    }

    /// Returns the free bytes of a file's disk; `nil` if unknown.
    static func freeBytes(near path: String) -> UInt64? {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let disk = try? FileManager.default.attributesOfFileSystem(forPath: folder)
        return (disk?[.systemFreeSize] as? NSNumber)?.uint64Value
    }

    /// Whether the store's disk has too little room for SQLite's files. SQLite then reports an I/O error if the index of its
    /// log does not fit.
    static func isDiskFull(near path: String) -> Bool { freeBytes(near: path).map { $0 < minFreeBytes } ?? false }

    private static let minFreeBytes: UInt64 = 1 << 20
}

/// A file next to the store, `collector.sqlite-reserve`, that is deleted when the disk is full. SQLite needs room even to delete,
/// because it first writes the changed pages to its log. Safe to use from any task.
final class DiskReserve: Sendable {
    private let path: String
    private let bytes: Int
    private let released = Atomic(false)

    init(of store: String, bytes: Int) {
        path = store + "-reserve"
        self.bytes = bytes
    }

    /// Whether the reserve has been released. New batches must then wait, or they would use it up.
    var isReleased: Bool { released.load(ordering: .relaxed) }

    /// Deletes the file. Returns `false` if there is none.
    func release() -> Bool {
        guard unlink(path) == 0 else { return false }
        released.store(true, ordering: .relaxed)
        return true
    }

    /// Creates the file if it is missing and the disk has room for it. The reserve then no longer counts as released.
    func make() {
        defer { released.store(false, ordering: .relaxed) }
        guard StoreSize.bytes(ofFile: path) < bytes else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        let isMade = posix_fallocate(descriptor, 0, bytes) == 0
        close(descriptor)
        if !isMade { unlink(path) }
    }
}
