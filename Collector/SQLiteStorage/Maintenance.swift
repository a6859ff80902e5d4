import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    /// How long after a slot's end its points are waited for: an agent's batch is on its way for some seconds. What comes
    /// later costs another row.
    private static func grace(_ tier: Tier) -> Int64 {
        switch tier {
        case .tenSeconds: 60_000_000_000
        case .minute, .hour: 300_000_000_000
        }
    }

    package func maintain() async throws {
        try await health.watching {
            for tier in [Tier.tenSeconds, .minute] {
                while try await rollUp(tier) {}
            }
            while try await expire() {}
        }
    }

    /// Whether there may be more.
    private func rollUp(_ tier: Tier) async throws -> Bool {
        let due = max(0, Int64(clamping: now()) - Self.grace(tier))
        guard let step = try await pool.read({ try RollUp(tier, due: due, in: $0) }) else { return false }
        try await pool.write { try step.write(in: $0) }
        return true
    }

    private func expire() async throws -> Bool {
        let expiry = Expiry(limits: limits, now: Int64(clamping: now()))
        return try await pool.write { [series] db in
            let before = db.totalChangesCount
            let isThereMore = try expiry.step(in: db)
            if db.totalChangesCount > before { series.withLock { $0.removeAll() } }
            return isThereMore
        }
    }
}
