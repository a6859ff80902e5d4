import GRDB
import MartletStorage
import Synchronization

/// The faults of the file that its use has shown: damage, after which nothing is written to it, so that the rest can be saved
/// and senders keep their batches; and the failure of the latest write. Safe to use from any task.
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

    /// See ``Storage/fault``. Anyone may read it, so it names no path.
    var fault: String? {
        state.withLock { $0.damage == nil ? $0.refusal : "the store is damaged; nothing more is stored in it" }
    }

    var refusesWrites: Bool { state.withLock { $0.refusal != nil } }

    /// Throws once damage was found.
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

    /// Runs `body`, which writes a batch, as ``noting(_:)`` does. The disk takes batches again if it took this one.
    func writing<Value>(_ body: () async throws -> Value) async throws -> Value {
        let value = try await noting(body)
        noteRoom()
        return value
    }

    /// Notes that the disk takes batches again.
    func noteRoom() { state.withLock { $0.refusal = nil } }

    /// Runs `body` as ``watching(_:)`` does, and remembers why the disk refused a write.
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
    /// Whether the error reveals a damaged file; a full disk and a lock do not.
    var showsDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }

    /// Whether the error comes from a disk without room.
    ///
    /// - Parameter path: the store's.
    func isOfFullDisk(at path: String) -> Bool {
        switch resultCode {
        case .SQLITE_FULL: true
        case .SQLITE_IOERR, .SQLITE_CANTOPEN: StoreSize.isDiskFull(beside: path)
        default: false
        }
    }

    /// Returns the reason why no batch can be written now; `nil` for an error of a single batch and for a lock.
    fileprivate func refusal(of path: String) -> String? {
        switch resultCode {
        case _ where isOfFullDisk(at: path): "the disk is full; nothing is stored until there is room"
        case .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN:
            "the store cannot be written: \(message ?? "\(resultCode)")"
        default: nil
        }
    }
}
