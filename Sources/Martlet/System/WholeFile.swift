import Foundation

/// Writes files so that a crash at any moment leaves either the complete file or nothing: it writes and syncs a
/// temporary file, renames it, and syncs the directory.
enum WholeFile {
    static let temporarySuffix = ".tmp"

    struct Failure: Error, CustomStringConvertible {
        let operation: String
        let code: Int32
        var description: String { "\(operation): \(String(cString: strerror(code)))" }
    }

    /// Writes a new file. If that fails, no file is left.
    static func write(_ bytes: [UInt8], to path: String, in directory: String) throws(Failure) {
        do throws(Failure) {
            try put(bytes, at: path, in: directory)
        } catch {
            // If a failed write left the file, it would be uploaded in addition to the batch that gets its content
            // instead.
            unlink(path)
            throw error
        }
    }

    /// Replaces a file. If that fails, the old one stays.
    static func replace(_ path: String, with bytes: [UInt8], in directory: String) throws(Failure) {
        try put(bytes, at: path, in: directory)
    }

    /// Replaces a file without waiting for the disk. If the process is killed, the old file or the new one remains.
    /// After a power cut the file may be empty, unless it and its directory were synced.
    static func replaceUnsynced(_ path: String, with bytes: [UInt8]) throws(Failure) {
        try put(bytes, at: path, in: nil)
    }

    static func sync(file path: String) throws(Failure) {
        guard let file = OwnDescriptor(path: path, O_RDONLY) else { throw failure("open") }
        guard fsync(file.number) == 0 else { throw failure("fsync") }
    }

    /// Syncs a directory, so that renames and removals in it are permanent.
    static func sync(directory: String) throws(Failure) {
        guard let file = OwnDescriptor(path: directory, O_RDONLY | O_DIRECTORY) else {
            throw failure("open the directory")
        }
        guard fsync(file.number) == 0 else { throw failure("fsync of the directory") }
    }

    /// - Parameter directory: the directory to sync with the file; `nil` to sync neither.
    private static func put(_ bytes: [UInt8], at path: String, in directory: String?) throws(Failure) {
        let temporary = path + temporarySuffix
        do throws(Failure) {
            try write(bytes, to: temporary, isSynced: directory != nil)
            guard rename(temporary, path) == 0 else { throw failure("rename") }
            if let directory { try sync(directory: directory) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    private static func write(_ bytes: [UInt8], to path: String, isSynced: Bool) throws(Failure) {
        guard let file = OwnDescriptor(path: path, O_CREAT | O_WRONLY | O_TRUNC) else { throw failure("open") }
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { unsafe in
                Foundation.write(file.number, unsafe.baseAddress, unsafe.count)
            }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw failure("write") }
            rest = rest.dropFirst(written)
        }
        guard !isSynced || fsync(file.number) == 0 else { throw failure("fsync") }
    }

    private static func failure(_ operation: String) -> Failure {
        Failure(operation: operation, code: errno)
    }
}
