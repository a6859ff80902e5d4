import Foundation
import MartletStorage

/// The files that a store has open. If one of them is moved or deleted, SQLite goes on writing to it, and no later start finds
/// what was written.
struct StoreIdentity: Sendable {
    private struct File: Equatable {
        let device: UInt64
        let inode: UInt64

        /// Returns `nil` if nothing is at the path.
        init?(_ path: String) {
            var info = stat()
            guard stat(path, &info) == 0 else { return nil }
            (device, inode) = (UInt64(info.st_dev), UInt64(info.st_ino))
        }
    }

    private let path: String
    private let files: [String: File]

    /// - Parameter path: the path of a store that is open, without links.
    init(of path: String) throws {
        self.path = path
        files = ["", "-wal", "-shm"].reduce(into: [:]) { $0[$1] = File(path + $1) }
        guard files[""] != nil else { throw Self.failure(path) }
    }

    /// Throws ``StorageFailure`` if the path leads to other files, or to none. It holds again once they are moved back.
    func check() throws {
        for (suffix, file) in files where File(path + suffix) != file { throw Self.failure(path + suffix) }
    }

    private static func failure(_ path: String) -> StorageFailure {
        StorageFailure(
            "\(path) was moved, replaced or deleted while the collector uses it; nothing more is stored until it is back or "
                + "the collector is started again")
    }
}
