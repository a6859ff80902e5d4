import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    /// One transaction: the batch's id is there if and only if its points are.
    package func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome {
        let (now, limits) = (now(), limits)
        return try await pool.write { db in
            let outcome = try BatchRows.remember(batch, at: now, keeping: limits.batchAge, in: db)
            guard outcome != .duplicate else { return outcome }
            for one in metrics {
                let resource = try ResourceRows.id(of: one.resource, seenAt: now, in: db)
                for point in one.points { try PointRows.insert(point, resource: resource, in: db) }
                if let reading = one.ledger {
                    try LedgerRows.insert(reading, requests: one.requests, resource: resource, in: db)
                }
            }
            return outcome
        }
    }
}
