import Foundation
import GRDB
import MartletStorage
import MartletTelemetry
import Synchronization

/// The embedded store: one SQLite file in WAL mode, one writer, and readers that never wait for it.
///
/// Durability: `synchronous = FULL`. `store` returns after its transaction has been appended to the log and the log has been
/// synced (fsync). A stored batch therefore survives `kill -9` and a power cut. The append would be enough for the kill, but
/// not for the power cut. The price is one fsync for each transaction: 0.18 ms on the disk where it was measured, more on
/// others. Batches that arrive at the same time share one (``CommitQueue``).
package final class SQLiteStorage: Storage {
    package let id: String
    let pool: DatabasePool
    let limits: SQLiteLimits
    let queue: CommitQueue
    let health: StoreHealth
    let retention: StoreClock
    let early = EarlyDeletions()
    let reserve: DiskReserve
    /// Used only by the writer.
    let series: WriterSeries
    let resources = WriterResources()
    /// Used only by readers.
    let knownSeries = SeriesMemory()
    let streams = WriterStreams()
    /// The time up to which ledgers have been thinned since the start, in nanoseconds since 1970; 0 before the first time. See
    /// ``LedgerThinning``.
    let thinnedLedgers = Atomic<Int64>(0)
    /// The last full hour at which old batches were forgotten; -1 after a start.
    let forgottenBatches = Atomic<Int64>(-1)
    /// The last full hour at which old readings and figures were folded; -1 after a start.
    let folded = Atomic<Int64>(-1)
    /// The time up to which they are folded since the start, in nanoseconds since 1970.
    let foldedUntil = Atomic<Int64>(0)
    /// The number of the last span whose calls are remembered; 0 after a start, because looking again changes nothing.
    let rememberedSpan = Atomic<Int64>(0)
    /// `nil` for a store opened only for reading.
    private let lock: StoreLock?
    private let identity: StoreIdentity?
    /// The collector's clock.
    let now: @Sendable () -> UnixNanoseconds
    let onStored: OnStored

    /// Opens the store at `path`. Creates the file and its directory if they are missing. Throws ``StorageFailure`` if the file is
    /// not a store, is newer or damaged, or another collector uses it; the file is then unchanged.
    ///
    /// - Parameter onStored: called after each commit.
    package convenience init(
        path: String, limits: SQLiteLimits = SQLiteLimits(),
        now: @escaping @Sendable () -> UnixNanoseconds = SystemClock.now,
        onStored: @escaping OnStored = { _, _ in }
    ) throws {
        let path = try StoreFile.make(path)
        let reserve = DiskReserve(of: path, bytes: limits.reserveBytes)
        let (lock, pool) = try Self.open(path, reserve)
        let believed = try pool.read(RetentionClockRow.time)
        self.init(
            try pool.read(StoreID.read), pool, lock, try StoreIdentity(of: path), reserve,
            clock: StoreClock(believed: believed, patience: limits.clockPatience),
            limits: limits, now: now, onStored: onStored)
    }

    /// Opens a store for writing. SQLite needs some room on the disk for that, so the reserve is deleted if the disk is full.
    private static func open(_ path: String, _ reserve: DiskReserve) throws -> (StoreLock, DatabasePool) {
        do {
            try StoreFile.inspect(path, forReading: false)
            let lock = try StoreLock(of: path)
            return (lock, try openPool(path))
        } catch let error as StorageFailure where error.isFullDisk {
            // The lock shows that no other collector needs the reserve.
            guard let lock = try? StoreLock(of: path), reserve.release() else { throw error }
            try StoreFile.inspect(path, forReading: false)
            return (lock, try openPool(path))
        }
    }

    private static func openPool(_ path: String) throws -> DatabasePool {
        try StoreFile.describingErrors(of: path) {
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction { db in
                try Pragmas.configureWriter(db)
                // The mark is written before the first table. So a process killed in between leaves a file that is recognized as
                // Martlet's.
                try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
            }
            try Schema.migrator.migrate(pool)
            return pool
        }
    }

    /// Opens an existing store for reading, even while a collector writes to it.
    package convenience init(readingFrom path: String) throws {
        try StoreFile.inspect(path, forReading: true)
        var configuration = Self.configuration
        configuration.readonly = true
        let pool = try StoreFile.describingErrors(of: path) {
            try DatabasePool(path: path, configuration: configuration)
        }
        let limits = SQLiteLimits()
        let id = try StoreFile.describingErrors(of: path) { try pool.read(StoreID.read) }
        self.init(
            id, pool, nil, nil, DiskReserve(of: path, bytes: limits.reserveBytes),
            clock: StoreClock(believed: nil, patience: limits.clockPatience), limits: limits,
            now: SystemClock.now, onStored: { _, _ in })
    }

    private init(
        _ id: String, _ pool: DatabasePool, _ lock: StoreLock?, _ identity: StoreIdentity?, _ reserve: DiskReserve,
        clock: StoreClock, limits: SQLiteLimits,
        now: @escaping @Sendable () -> UnixNanoseconds, onStored: @escaping OnStored
    ) {
        let series = WriterSeries(maxSeriesOfService: limits.maxSeriesPerService)
        self.id = id
        self.pool = pool
        self.limits = limits
        self.series = series
        self.now = now
        self.onStored = onStored
        self.lock = lock
        self.identity = identity
        retention = clock
        health = StoreHealth(path: pool.path)
        self.reserve = reserve
        queue = CommitQueue(pool, limits: limits) { [resources] in
            series.withLock { $0.removeAll() }
            resources.removeAll()
        }
    }

    package var fault: String? {
        do { try identity?.check() } catch { return "the store's file is no longer at its path; nothing is stored" }
        return health.fault ?? (reserve.isReleased ? "the disk is full; old data makes room for new" : nil)
    }

    package var longestAge: UnixNanoseconds? {
        retention.jumped == 0 ? max(limits.retention.hours, limits.detailAge) : nil
    }

    /// The bytes of the file and its log; a missing file counts as 0.
    package func size() async throws -> UInt64 {
        ["", "-wal", "-shm"].reduce(0) { $0 + StoreSize.bytes(ofFile: pool.path + $1) }
    }

    /// Checkpoints the log, so that the file contains all data, and closes the store. Do not use the store afterwards.
    package func close() throws {
        // GRDB closes its readers last, and readers cannot checkpoint the log. An SQL statement works even if an earlier one was
        // interrupted; SQLite's function for it does not.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try pool.close()
        lock?.release()
    }

    /// Commits a batch: see ``CommitQueue/commit(bytes:_:)``. Throws if the store's file is no longer at its path afterwards,
    /// because nobody would find the batch. Throws ``StorageBusy`` while old data is being deleted on a full disk.
    func commit(bytes: Int, _ work: @escaping CommitQueue.Work) async throws -> StoredBatch {
        try await health.writing {
            try identity?.check()
            guard !reserve.isReleased else { throw StorageBusy() }
            let stored = try await queue.commit(bytes: bytes, work)
            try identity?.check()
            return stored
        }
    }

    /// Runs `work` in a separate transaction. Continues if its task is cancelled, because an interrupted statement would leave the
    /// connection interrupted for the next one.
    func write<Value: Sendable>(_ work: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try identity?.check()
        return try await withCheckedThrowingContinuation { continuation in
            pool.asyncWrite(work) { _, result in continuation.resume(with: result) }
        }
    }

    /// Runs `work` on a snapshot of the store.
    func read<Value: Sendable>(_ work: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await health.watching { try await pool.read(work) }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        // Another process, such as a backup, may lock the file for a moment.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase(Pragmas.configure)
        return configuration
    }
}

extension SQLiteStorage {
    package func state() async throws -> StorageState {
        var state = StorageState()
        state.bytesInUse = try await pool.read(StoreSize.bytesInUse)
        state.maxBytes = limits.maxStoreBytes
        state.mayShrink = try await pool.read(
            Shedding(limit: limits.maxStoreBytes, now: retention.time(at: now())).maySucceed)
        state.logBytes = StoreSize.bytes(ofFile: pool.path + "-wal")
        state.clockJump = Double(retention.jumped) / 1e9
        state.crowdedDetails = early.crowdedDetails
        state.shedDetails = early.shedDetails
        state.shedChunks = early.shedChunks
        state.shedHours = early.shedHours
        state.uncountedPoints = streams.uncountedPoints
        return state
    }
}

extension SQLiteStorage {
    package func freeBytes() async -> UInt64? {
        StoreSize.freeBytes(near: pool.path)
    }
}
