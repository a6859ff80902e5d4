import CMartletHooks
import Foundation

/// A file that is open, until the value goes. Where the service closed its number, nothing is done with that any more: it may
/// stand for a file of the service's. Thread-safe.
final class OwnDescriptor: Sendable {
    private let file: martlet_descriptor

    /// `nil`, and `errno` says why, where it cannot be opened. It stays closed in another program.
    init?(path: String, _ flags: Int32) {
        let number = open(path, flags | O_CLOEXEC, 0o600)
        guard number >= 0 else { return nil }
        file = martlet_descriptor_of(number)
    }

    var isOurs: Bool { martlet_is_ours(file) }

    /// To be used at once; -1 where the service closed it.
    var number: Int32 { isOurs ? file.number : -1 }

    var inode: UInt64 { file.inode }

    deinit { martlet_close(file) }
}
