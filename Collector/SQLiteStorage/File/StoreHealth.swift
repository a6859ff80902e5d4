import GRDB
import MartletStorage
import Synchronization

/// Whether the file turned out to be damaged. From then on nothing is written to it, so that the rest can be saved, and
/// senders keep their batches. Safe to use from any task.
final class StoreHealth: Sendable {
    private let failure = Mutex<StorageFailure?>(nil)
    private let path: String

    init(path: String) {
        self.path = path
    }

    /// Throws once damage was found.
    func check() throws {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    /// Runs `body` unless the file is damaged, and remembers an error of `body` that reveals damage.
    func watching<Value>(_ body: () async throws -> Value) async throws -> Value {
        try check()
        do {
            return try await body()
        } catch let error as DatabaseError where error.showsDamage {
            let found = StorageFailure(
                "\(path) is damaged: \(error.message ?? "\(error)"); nothing more is stored in it")
            failure.withLock { $0 = found }
            throw found
        }
    }
}

extension DatabaseError {
    /// Whether the error reveals a damaged file; a full disk and a lock do not.
    var showsDamage: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB }
}
