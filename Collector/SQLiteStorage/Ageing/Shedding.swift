import GRDB
import MartletStorage
import Synchronization

/// One step of making room when the store is larger than its limit. The oldest details are deleted first, then the oldest 10 s
/// points and figures of processes, then those of minutes. Hourly points stay; they include all deleted points.
struct Shedding {
    /// The largest number of bytes of the pages in use.
    let limit: UInt64

    struct Outcome {
        var details = 0
        var chunks = 0
    }

    /// Returns `nil` if the store is within its limit, or has nothing more to give up.
    func step(in db: Database) throws -> Outcome? {
        let bytes = try StoreSize.bytesInUse(in: db)
        guard bytes > limit else { return nil }
        let details = try DetailPruning.removeOldest(toFree: bytes - limit, atMost: SQLiteLimits.deletedRows, in: db)
        if details > 0 { return Outcome(details: details) }
        let chunks = try shed(.fine, toFree: bytes - limit, in: db)
        let shed = chunks > 0 ? chunks : try shed(.minute, toFree: bytes - limit, in: db)
        return shed > 0 ? Outcome(chunks: shed) : nil
    }

    /// Returns whether deleting all rows that may be deleted, some only after their roll-up, would bring the store below its
    /// limit. The estimate of their size is generous.
    func maySucceed(in db: Database) throws -> Bool {
        let bytes = try StoreSize.bytesInUse(in: db)
        guard bytes > limit else { return true }
        var excess = Int64(clamping: bytes - limit)
        let sizes = try Int64.fetchCursor(db.cachedStatement(sql: Self.sizesOfRows))
        while excess > 0, let size = try sizes.next() { excess -= size }
        return excess <= 0
    }

    /// The estimated size of each row that may be deleted: its bytes, as many again but at most a page, and its index entries.
    private static let sizesOfRows = """
        SELECT bytes FROM detail_share
        UNION ALL SELECT length(points) + min(length(points), 4096) + length(arrived) + 300
            FROM chunk WHERE tier < \(Tier.hour.rawValue)
        UNION ALL SELECT length(points) + min(length(points), 4096) + 300
            FROM version_chunk WHERE tier < \(Tier.hour.rawValue)
        UNION ALL SELECT 2 * length(figures) + 300 FROM process_slot WHERE tier < \(Tier.hour.rawValue)
        """

    /// Deletes the oldest rolled-up chunks of a tier. Before that, it makes readers stop counting them.
    private func shed(_ tier: Tier, toFree bytes: UInt64, in db: Database) throws -> Int {
        guard let target = tier.next else { return 0 }
        guard let end = try endOfOldest(tier, toFree: bytes, in: db) else {
            return try ProcessRows.delete(tier, until: .max, in: db)
        }
        var times = try ExpiredRows.times(in: db)
        let slot = target.slotEnd(of: end)
        times.fine = max(times.fine, slot)
        if tier == .minute { times.minutes = max(times.minutes, slot) }
        _ = try ExpiredRows.advance(to: times, in: db)
        return try Expiry.deleteChunks(of: tier, until: slot, in: db) + ProcessRows.delete(tier, until: slot, in: db)
    }

    /// Returns the end of the last of the oldest chunks that together free `bytes`, or as many as one step deletes.
    private func endOfOldest(_ tier: Tier, toFree bytes: UInt64, in db: Database) throws -> Int64? {
        let oldest = try (Expiry.chunks[tier] ?? []).flatMap { table, tier, state in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT end_time, length(points) FROM \(table.rawValue) WHERE tier = ? AND rolled = ?
                    ORDER BY end_time LIMIT \(SQLiteLimits.deletedRows)
                    """)
            return try Row.fetchAll(statement, arguments: [tier.rawValue, state.rawValue])
                .map { (end: $0[0] as Int64, bytes: $0[1] as Int) }
        }
        var (end, freed) = (Int64?.none, 0)
        for chunk in oldest.sorted(by: { $0.end < $1.end }).prefix(SQLiteLimits.deletedRows) where freed < bytes {
            (end, freed) = (chunk.end, freed + chunk.bytes)
        }
        return end
    }
}

/// The numbers of rows deleted since the start before they expired. Safe to use from any task.
final class EarlyDeletions: Sendable {
    private let state = Mutex((crowdedDetails: UInt64(0), shedDetails: UInt64(0), shedChunks: UInt64(0)))

    var crowdedDetails: UInt64 { state.withLock { $0.crowdedDetails } }
    var shedDetails: UInt64 { state.withLock { $0.shedDetails } }
    var shedChunks: UInt64 { state.withLock { $0.shedChunks } }

    /// Counts details that were deleted to make room for others.
    func add(crowdedDetails count: Int) { state.withLock { $0.crowdedDetails += UInt64(count) } }

    func add(_ outcome: Shedding.Outcome) {
        state.withLock {
            $0.shedDetails += UInt64(outcome.details)
            $0.shedChunks += UInt64(outcome.chunks)
        }
    }
}
