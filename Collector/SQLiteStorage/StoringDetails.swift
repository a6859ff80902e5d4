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
                for detail in one.details { try DetailRows.insert(detail, resource: resource, at: now, in: db) }
            }
            try DetailRows.prune(at: now, limits, in: db)
            return outcome
        }
    }
}
