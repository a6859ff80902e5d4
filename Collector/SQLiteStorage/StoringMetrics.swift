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
                let points = try newPoints(of: one, resource: resource, at: now, limits, in: db)
                for point in points { try PointRows.insert(point, resource: resource, in: db) }
                if let reading = one.ledger {
                    try LedgerRows.insert(reading, requests: one.requests, resource: resource, in: db)
                }
            }
            return outcome
        }
    }
}

/// What the metrics tell that was not known, of a sender that counts on too.
private func newPoints(
    of metrics: InstanceMetrics, resource: Int64, at now: UnixNanoseconds, _ limits: SQLiteLimits, in db: Database
) throws -> [RequestPoint] {
    let points =
        try metrics.points
        + CumulativeRows.differences(of: metrics.cumulative, resource: resource, at: now, limits, in: db)
    if !metrics.resource.isMartlet { try MetricsCover.extend(by: points, of: resource, in: db) }
    return points
}
