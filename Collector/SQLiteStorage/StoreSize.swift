import Foundation

extension SQLiteStorage {
    /// Of the file and its log; what is not there yet has none.
    package func size() async throws -> UInt64 {
        ["", "-wal", "-shm"].reduce(0) { total, suffix in
            let attributes = try? FileManager.default.attributesOfItem(atPath: pool.path + suffix)
            return total + (attributes?[.size] as? UInt64 ?? (attributes?[.size] as? NSNumber)?.uint64Value ?? 0)
        }
    }
}
