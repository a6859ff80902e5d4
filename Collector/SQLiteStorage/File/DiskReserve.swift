import Foundation
import Synchronization

/// A file beside the store, `collector.sqlite-reserve`, that is given up when the disk is full: SQLite needs room even to
/// delete, because it first writes the changed pages to its log. Safe to use from any task.
final class DiskReserve: Sendable {
    private let path: String
    private let bytes: Int
    private let released = Atomic(false)

    init(of store: String, bytes: Int) {
        path = store + "-reserve"
        self.bytes = bytes
    }

    /// Whether the reserve is in use. New batches have to wait, or they would take it.
    var isReleased: Bool { released.load(ordering: .relaxed) }

    /// Gives up the file; returns `false` if there is none.
    func release() -> Bool {
        guard unlink(path) == 0 else { return false }
        released.store(true, ordering: .relaxed)
        return true
    }

    /// Makes the file if it is missing and the disk has room for it, and ends the use of the reserve.
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
