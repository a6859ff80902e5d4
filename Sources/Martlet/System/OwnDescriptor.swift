import CMartletHooks
import Foundation

/// A file that is open until the value is released. If the service closed its descriptor, the value no longer uses that
/// number, which may now be a file of the service. Thread-safe.
final class OwnDescriptor: Sendable {
    private let file: martlet_descriptor

    /// Opens a file, closed when the process executes another program; `nil`, with the reason in `errno`, if that fails.
    init?(path: String, _ flags: Int32) {
        let number = martlet_above_standard(open(path, flags | O_CLOEXEC, 0o600))
        guard number >= 0 else { return nil }
        file = martlet_descriptor_of(number)
    }

    /// Takes over an open file, closed when the process executes another program.
    init(number: Int32) {
        file = martlet_descriptor_of(number)
    }

    var isOurs: Bool { martlet_is_ours(file) }

    /// The file's number, for immediate use; -1 if the service closed it.
    var number: Int32 { isOurs ? file.number : -1 }

    var inode: UInt64 { file.inode }

    deinit { martlet_close(file) }
}

/// An advisory lock on a file (`flock`), held until the value is released or the process dies in any way.
///
/// The lock belongs to the open file, and a mapping keeps a file open. So a long-held lock needs no descriptor, which
/// the service might close or run out of. A forked child does not inherit the mapping, and so does not hold the lock.
/// If the file system maps another file than the one that was opened (overlayfs), the descriptor stays open.
struct FileLock: ~Copyable {
    private let descriptor: OwnDescriptor?
    private let mapping: FileMapping?

    /// Takes the lock. `nil` if another process holds it, or the file cannot be created or does not exist. Never waits.
    ///
    /// - Parameter isNew: the file was just created, so no other process can hold its lock.
    init?(path: String, isNew: Bool) {
        mapping = isNew ? Self.lock(path, isNew: true).flatMap(FileMapping.init) : nil
        // If the mapping holds the lock, this attempt fails, and no descriptor stays open.
        descriptor = Self.lock(path, isNew: isNew)
        if mapping == nil, descriptor == nil { return nil }
    }

    /// Whether the lock is held. `false` if the service closed its descriptor; another process may have the lock then.
    var isHeld: Bool { descriptor?.isOurs ?? (mapping != nil) }

    private static func lock(_ path: String, isNew: Bool) -> OwnDescriptor? {
        guard let file = locked(path, isNew ? O_CREAT : 0) else { return nil }
        // Another process may have removed the file after it was opened. A lock on a removed file would protect
        // nothing.
        var named = stat()
        guard stat(path, &named) == 0, UInt64(named.st_ino) == file.inode else { return nil }
        return file
    }

    /// Opens and locks a file. On NFS an exclusive lock needs a file that is open for writing, and fails with a bad
    /// descriptor for any other file (flock(2), "NFS details"). Elsewhere a file open for writing would keep its file
    /// system from becoming read-only.
    private static func locked(_ path: String, _ flags: Int32) -> OwnDescriptor? {
        for mode in [O_RDONLY, O_RDWR] {
            guard let file = OwnDescriptor(path: path, flags | mode) else { return nil }
            if flock(file.number, LOCK_EX | LOCK_NB) == 0 { return file }
            guard errno == EBADF else { return nil }
        }
        return nil
    }

    /// Unlocks before closing, because a child that was just forked has the descriptor too, until it executes its
    /// program.
    deinit {
        if let number = descriptor?.number { flock(number, LOCK_UN) }
    }
}

/// A mapping that keeps a file open and cannot be read.
///
/// `@unchecked Sendable`: the value never changes.
private final class FileMapping: @unchecked Sendable {
    private let address: UnsafeMutableRawPointer
    private let process = martlet_process()
    private static let length = 1

    init?(_ file: OwnDescriptor) {
        #if os(Linux)
        let address = mmap(nil, Self.length, PROT_NONE, MAP_SHARED, file.number, 0)
        guard let address, address != MAP_FAILED else { return nil }
        guard madvise(address, Self.length, MADV_DONTFORK) == 0 else {
            munmap(address, Self.length)
            return nil
        }
        self.address = address
        #else
        return nil
        #endif
    }

    /// Unmaps nothing in a forked child, which has another mapping at that address, or none.
    deinit {
        if process == martlet_process() { munmap(address, Self.length) }
    }
}
