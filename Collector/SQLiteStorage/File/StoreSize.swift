import Foundation
import GRDB

/// The size of a store in bytes, and the room beside it. All figures are read at once, however large the store is.
enum StoreSize {
    /// Returns the bytes of the pages in use. Free pages do not count, because new rows take them first; the log does not
    /// either, because its pages are written to the file.
    static func bytesInUse(in db: Database) throws -> UInt64 {
        func number(_ pragma: String) throws -> UInt64 {
            UInt64(clamping: try Int64.fetchOne(db, sql: "PRAGMA \(pragma)") ?? 0)
        }
        return try (number("page_count") - number("freelist_count")) * number("page_size")
    }

    /// Returns the bytes of a file; a missing file counts as 0.
    static func bytes(ofFile path: String) -> UInt64 {
        var info = stat()
        return stat(path, &info) == 0 ? UInt64(clamping: info.st_size) : 0
    }

    /// Returns the free bytes of the disk that a file lies on; `nil` if the system does not tell them.
    static func freeBytes(beside path: String) -> UInt64? {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let disk = try? FileManager.default.attributesOfFileSystem(forPath: folder)
        return (disk?[.systemFreeSize] as? NSNumber)?.uint64Value
    }

    /// Whether the disk that a store lies on has too little room for SQLite's files. It then reports an error of input or output where
    /// the index of its log does not fit.
    static func isDiskFull(beside path: String) -> Bool { freeBytes(beside: path).map { $0 < minFreeBytes } ?? false }

    private static let minFreeBytes: UInt64 = 1 << 20
}
