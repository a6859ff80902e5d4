import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func maintain() async throws {
        try await health.writing {
            for tier in [Tier.fine, .minute] {
                while try await rollUp(tier) {}
            }
            while try await expire() {}
            try await thinLedgers()
            try await tryToWrite()
        }
    }

    /// Writes again what the file has, after a write failed: while no batch comes, nothing else would tell that there is room
    /// again.
    private func tryToWrite() async throws {
        guard health.refusesWrites else { return }
        try await pool.write { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
    }

    /// Rolls up some chunks and returns whether more may be due.
    private func rollUp(_ tier: Tier) async throws -> Bool {
        let due = max(0, Int64(clamping: now()) - tier.rollUpDelay)
        guard let step = try await pool.read({ try RollUp(tier, due: due, in: $0) }) else { return false }
        try await pool.write { try step.write(in: $0) }
        return true
    }

    private func expire() async throws -> Bool {
        let expiry = Expiry(limits: limits, now: Int64(clamping: now()))
        return try await pool.write { [series] db in
            let outcome = try expiry.step(in: db)
            if outcome.deletedSeries { series.withLock { $0.removeAll() } }
            return outcome.isThereMore
        }
    }

    /// Thins ledgers once an hour; the first call after a start thins all of them.
    private func thinLedgers() async throws {
        let before = thinnedLedgers.load(ordering: .relaxed)
        let until = Tier.hour.slotEnd(
            notAfter: max(0, Int64(clamping: now()) - limits.retention.age(.fine)))
        guard until > before else { return }
        while true {
            let hours = try await pool.read { try LedgerThinning.hours(from: before, to: until, in: $0) }
            try await pool.write { db in for hour in hours { try LedgerThinning.thin(hour, in: db) } }
            if hours.count < LedgerThinning.maxHours { break }
        }
        thinnedLedgers.store(until, ordering: .relaxed)
    }
}
