import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    /// In one transaction: the batch's id is there if and only if its points are.
    package func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome {
        let (now, limits) = (now(), limits)
        let bytes = metrics.reduce(0) { $0 + $1.points.reduce(1024) { $0 + $1.statistics.estimatedBytes } }
        return try await commit(bytes: bytes) { [series] db in
            let outcome = try BatchRows.remember(batch, at: now, keeping: limits.batchAge, in: db)
            guard outcome != .duplicate else { return outcome }
            for one in metrics {
                let resource = try ResourceRows.id(
                    of: one.resource, seenAt: now, pointsUntil: one.points.map(\.end).max() ?? 0, in: db)
                try series.withLock { index in
                    try ChunkWriting.insert(
                        one.points, of: resource, service: one.resource.service, index: &index, in: db)
                }
                if let reading = one.ledger {
                    try LedgerRows.insert(reading, requests: one.requests, resource: resource, in: db)
                }
            }
            return outcome
        }
    }
}
