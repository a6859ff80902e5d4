import Foundation
import GRDB

extension SQLiteStorage {
    package func freeBytes() async -> UInt64? {
        let folder = URL(fileURLWithPath: pool.path).deletingLastPathComponent().path
        let disk = try? FileManager.default.attributesOfFileSystem(forPath: folder)
        return (disk?[.systemFreeSize] as? NSNumber)?.uint64Value
    }
}
