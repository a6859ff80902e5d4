import Foundation
import GRDB

extension SQLiteStorage {
    package func freeBytes() async -> UInt64? {
        StoreSize.freeBytes(beside: pool.path)
    }
}
