import CMartletHooks
import Foundation

/// An advisory lock on a file (`flock`), held until the value goes or the process dies, however it dies.
///
/// The lock is the open file's, and a mapping keeps a file open. So one that is held for long takes no descriptor, which the
/// service may close or be short of, and a forked child, which does not get the mapping, does not hold it as well. Where the
/// file system maps another file than the one that was opened (overlayfs), the descriptor stays.
struct FileLock: ~Copyable {
    private let descriptor: OwnDescriptor?
    private let mapping: FileMapping?

    /// `nil` when another process holds it, or the file cannot be made or is not there. Never waits.
    ///
    /// - Parameter isNew: nobody else locks the file yet, for none knows of it.
    init?(path: String, isNew: Bool) {
        mapping = isNew ? Self.lock(path, isNew: true).flatMap(FileMapping.init) : nil
        // Where the mapping holds it, nobody gets it any more.
        descriptor = Self.lock(path, isNew: isNew)
        if mapping == nil, descriptor == nil { return nil }
    }

    /// `false` where the service closed its descriptor, and another process may have it.
    var isHeld: Bool { descriptor?.isOurs ?? (mapping != nil) }

    private static func lock(_ path: String, isNew: Bool) -> OwnDescriptor? {
        guard let file = OwnDescriptor(path: path, (isNew ? O_CREAT : 0) | O_RDONLY),
            flock(file.number, LOCK_EX | LOCK_NB) == 0
        else { return nil }
        // Another process may have removed the file after it was opened: that lock would guard nothing.
        var named = stat()
        guard stat(path, &named) == 0, UInt64(named.st_ino) == file.inode else { return nil }
        return file
    }

    /// Unlocked ahead of closing: a child that was forked just now has the descriptor too, until it executes its program.
    deinit {
        if let number = descriptor?.number { flock(number, LOCK_UN) }
    }
}

/// A file's mapping that is there to keep the file open, and has nothing that could be read.
///
/// `@unchecked Sendable`: it never changes.
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

    /// A forked child has nothing there, or something of its own.
    deinit {
        if process == martlet_process() { munmap(address, Self.length) }
    }
}
