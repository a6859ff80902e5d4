import Foundation

extension SQLiteStorage {
    /// The bytes of the file and its log; a missing file counts as 0.
    package func size() async throws -> UInt64 {
        ["", "-wal", "-shm"].reduce(0) { total, suffix in
            let attributes = try? FileManager.default.attributesOfItem(atPath: pool.path + suffix)
            return total + (attributes?[.size] as? UInt64 ?? (attributes?[.size] as? NSNumber)?.uint64Value ?? 0)
        }
    }
}
