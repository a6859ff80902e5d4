import Foundation

/// An advisory lock on a file (`flock`), held until the value goes or the process dies, however it dies.
struct FileLock: ~Copyable {
    private let descriptor: Int32

    /// `nil` when another process holds it, or the file cannot be made or is not there. Never waits.
    init?(path: String, isNew: Bool) {
        let descriptor = open(path, (isNew ? O_CREAT : 0) | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        // Another process may have removed the file after it was opened: that lock would guard nothing.
        var (opened, named) = (stat(), stat())
        guard fstat(descriptor, &opened) == 0, stat(path, &named) == 0, opened.st_ino == named.st_ino else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
