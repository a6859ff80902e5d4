import GRDB
import MartletStorage
import Synchronization

/// One step of making room when the store is larger than its limit. Each class of data has a floor: what is older goes before the
/// classes after it, so that a year of hours does not cost the minutes of a week. A slot goes for all services at once.
struct Shedding {
    /// The largest number of bytes of the pages in use.
    let limit: UInt64
    /// The time that retention uses.
    let now: Int64

    struct Outcome {
        var details = 0
        var chunks = 0
        var hours = 0

        fileprivate var isEmpty: Bool { details + chunks + hours == 0 }
    }

    private enum Class {
        case details
        case points(Tier)
    }

    /// The classes in the order in which they go, each with the age that stays for now.
    private static let order: [(class: Class, floor: Int64)] = [
        (.details, 0), (.points(.hour), 90 * day), (.points(.fine), 0), (.points(.minute), 7 * day),
        (.points(.hour), hoursThatStay), (.points(.minute), 0),
    ]
    private static let day = 24 * Tier.hour.length
    /// The age of hours that always stay.
    private static let hoursThatStay = 8 * day

    /// Returns `nil` if the store is within its limit, or has nothing more to give up.
    func step(in db: Database) throws -> Outcome? {
        let bytes = try StoreSize.bytesInUse(in: db)
        guard bytes > limit else { return nil }
        for (data, floor) in Self.order {
            let outcome = try shed(data, before: max(0, now - floor), toFree: bytes - limit, in: db)
            if !outcome.isEmpty { return outcome }
        }
        return nil
    }

    private func shed(_ data: Class, before time: Int64, toFree bytes: UInt64, in db: Database) throws -> Outcome {
        switch data {
        case .details:
            let rows = try DetailPruning.removeOldest(toFree: bytes, atMost: SQLiteLimits.deletedRows, in: db)
            return Outcome(details: rows)
        case .points(.hour): return Outcome(hours: try shedHours(before: time, toFree: bytes, in: db))
        case .points(let tier): return Outcome(chunks: try shed(tier, before: time, toFree: bytes, in: db))
        }
    }

    /// Deletes the hours of the oldest days, of points and of processes that are gone.
    private func shedHours(before time: Int64, toFree bytes: UInt64, in db: Database) throws -> Int {
        let time = Tier.day.slotEnd(notAfter: time)
        guard let end = try endOfOldest(.hour, before: time, toFree: bytes, in: db).map(Tier.day.slotEnd(of:)) else {
            return 0
        }
        let before = db.totalChangesCount
        _ = try Expiry.deleteHours(until: end, in: db)
        return db.totalChangesCount - before
    }

    /// Returns whether deleting all rows that may be deleted, some only after their roll-up, would bring the store below its
    /// limit. The estimate of their size is generous.
    func maySucceed(in db: Database) throws -> Bool {
        let bytes = try StoreSize.bytesInUse(in: db)
        guard bytes > limit else { return true }
        var excess = Int64(clamping: bytes - limit)
        let statement = try db.cachedStatement(sql: Self.sizesOfRows)
        let sizes = try Int64.fetchCursor(statement, arguments: [max(0, now - Self.hoursThatStay)])
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
        UNION ALL SELECT length(points) + min(length(points), 4096) + 300
            FROM version_chunk WHERE tier >= \(Tier.hour.rawValue) AND end_time <= ?1
        UNION ALL SELECT 2 * length(figures) + 600 FROM version_hour WHERE end_time <= ?1
        UNION ALL SELECT 2 * length(figures) + 300 FROM process_slot WHERE tier < \(Tier.hour.rawValue)
        """

    /// Deletes the oldest rolled-up chunks of a tier. Before that, it makes readers stop counting them.
    private func shed(_ tier: Tier, before time: Int64, toFree bytes: UInt64, in db: Database) throws -> Int {
        guard let target = tier.next else { return 0 }
        guard let end = try endOfOldest(tier, before: time, toFree: bytes, in: db) else {
            return try ProcessRows.delete(tier, until: time == now ? .max : time, in: db)
        }
        var times = try ExpiredRows.times(in: db)
        let slot = target.slotEnd(of: end)
        times.fine = max(times.fine, slot)
        if tier == .minute { times.minutes = max(times.minutes, slot) }
        _ = try ExpiredRows.advance(to: times, in: db)
        let before = db.totalChangesCount
        _ = try Expiry.deleteChunks(of: tier, until: slot, in: db)
        _ = try ProcessRows.delete(tier, until: slot, in: db)
        return db.totalChangesCount - before
    }

    /// Returns the end of the last of the oldest chunks that together free `bytes`, or as many as one step deletes.
    private func endOfOldest(
        _ tier: Tier, before time: Int64, toFree bytes: UInt64, in db: Database
    ) throws -> Int64? {
        let resolutions = tier == .hour ? [.hour, .day] : [tier]
        let oldest = try resolutions.flatMap { Expiry.chunks[$0] ?? [] }.flatMap { table, tier, state in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT end_time, length(points) FROM \(table.rawValue) WHERE tier = ? AND rolled = ? AND end_time <= ?
                    ORDER BY end_time LIMIT \(SQLiteLimits.deletedRows)
                    """)
            return try Row.fetchAll(statement, arguments: [tier.rawValue, state.rawValue, time])
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
    private let state = Mutex(
        (crowdedDetails: UInt64(0), shedDetails: UInt64(0), shedChunks: UInt64(0), shedHours: UInt64(0)))

    var crowdedDetails: UInt64 { state.withLock { $0.crowdedDetails } }
    var shedDetails: UInt64 { state.withLock { $0.shedDetails } }
    var shedChunks: UInt64 { state.withLock { $0.shedChunks } }
    var shedHours: UInt64 { state.withLock { $0.shedHours } }

    /// Counts details that were deleted to make room for others.
    func add(crowdedDetails count: Int) { state.withLock { $0.crowdedDetails += UInt64(count) } }

    func add(_ outcome: Shedding.Outcome) {
        state.withLock {
            $0.shedDetails += UInt64(outcome.details)
            $0.shedChunks += UInt64(outcome.chunks)
            $0.shedHours += UInt64(outcome.hours)
        }
    }
}
