import MartletStorage

extension SQLiteStorage {
    package func state() async throws -> StorageState {
        var state = StorageState()
        state.bytesInUse = try await pool.read(StoreSize.bytesInUse)
        state.maxBytes = limits.maxStoreBytes
        state.mayShrink = try await pool.read(Shedding(limit: limits.maxStoreBytes).maySucceed)
        state.logBytes = StoreSize.bytes(ofFile: pool.path + "-wal")
        state.clockJump = Double(retention.jumped) / 1e9
        state.crowdedDetails = early.crowdedDetails
        state.shedDetails = early.shedDetails
        state.shedChunks = early.shedChunks
        state.uncountedPoints = streams.uncountedPoints
        return state
    }
}
