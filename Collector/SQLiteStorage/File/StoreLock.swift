import Foundation
import MartletStorage
import Synchronization

/// The claim of one collector to a store: a lock on a file beside it, `collector.sqlite-lock`. The kernel releases it when the
/// process ends, in whatever way. The commands that only read need no claim. Safe to use from any task.
package final class StoreLock: Sendable {
    private let file: Mutex<FileHandle?>

    /// Throws ``StorageFailure`` if another collector has the store.
    ///
    /// - Parameter path: the store's path without links.
    package init(of path: String) throws {
        let descriptor = open(path + "-lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw StorageFailure("\(path)-lock cannot be opened: \(String(cString: strerror(errno)))")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw StorageFailure("\(path) is in use by another collector; each collector needs a store of its own")
        }
        self.file = Mutex(file)
    }

    /// Ends the claim; the end of the value does so too.
    package func release() {
        file.withLock { file in
            // A child that another thread has just forked has the lock as well until it executes its program.
            if let file { _ = flock(file.fileDescriptor, LOCK_UN) }
            try? file?.close()
            file = nil
        }
    }

    deinit { release() }
}
