import Foundation

/// Writes files so that a crash at any moment leaves the whole file under its name or nothing: a temporary file beside it is
/// synced and renamed, and the directory synced.
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
            // A file that exists after a failure would be uploaded beside the batch that its content goes into instead.
            unlink(path)
            throw error
        }
    }

    /// Replaces a file. If that fails, the old one stays.
    static func replace(_ path: String, with bytes: [UInt8], in directory: String) throws(Failure) {
        try put(bytes, at: path, in: directory)
    }

    /// Replaces a file and waits for no disk. A killed process leaves the old file or the new one. A power cut may leave an
    /// empty one, until the file and its directory are synced.
    static func replaceUnsynced(_ path: String, with bytes: [UInt8]) throws(Failure) {
        try put(bytes, at: path, in: nil)
    }

    static func sync(file path: String) throws(Failure) {
        guard let file = OwnDescriptor(path: path, O_RDONLY) else { throw failure("open") }
        guard fsync(file.number) == 0 else { throw failure("fsync") }
    }

    /// Syncs a directory, so that renames and removals in it last.
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
