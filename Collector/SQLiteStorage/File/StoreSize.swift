import Foundation
import GRDB

/// The size of a store in bytes. Both figures are read at once, however large the store is.
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
}
