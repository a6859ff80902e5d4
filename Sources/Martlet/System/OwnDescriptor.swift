import CMartletHooks
import Foundation

/// A file that is open until the value goes. If the service closed its number, the value no longer uses that number, which
/// may stand for a file of the service's. Thread-safe.
final class OwnDescriptor: Sendable {
    private let file: martlet_descriptor

    /// Opens a file, which programs that the process executes do not get; `nil`, with the reason in `errno`, if that fails.
    init?(path: String, _ flags: Int32) {
        let number = open(path, flags | O_CLOEXEC, 0o600)
        guard number >= 0 else { return nil }
        file = martlet_descriptor_of(number)
    }

    /// Takes over an open file, which programs that the process executes do not get.
    init(number: Int32) {
        file = martlet_descriptor_of(number)
    }

    var isOurs: Bool { martlet_is_ours(file) }

    /// The file's number, to be used at once; -1 if the service closed it.
    var number: Int32 { isOurs ? file.number : -1 }

    var inode: UInt64 { file.inode }

    deinit { martlet_close(file) }
}
