import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome {
        let (now, limits) = (now(), limits)
        return try await pool.write { db in
            let outcome = try BatchRows.remember(batch, at: now, keeping: limits.batchAge, in: db)
            guard outcome != .duplicate else { return outcome }
            for one in details {
                let resource = try ResourceRows.id(of: one.resource, seenAt: now, in: db)
                var new = one
                new.details = []
                for detail in one.details {
                    // A sender that does not number its batches may have sent it before.
                    guard try batch != nil || !DetailRows.contains(detail, in: db) else { continue }
                    try DetailRows.insert(detail, resource: resource, at: now, in: db)
                    new.details.append(detail)
                }
                for point in new.points { try PointRows.insert(point, resource: resource, in: db) }
            }
            try DetailRows.prune(at: now, limits, in: db)
            return outcome
        }
    }
}
