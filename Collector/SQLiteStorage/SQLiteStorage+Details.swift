import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome {
        let (now, limits) = (now(), limits)
        let time = retention.time(at: now)
        let oldest = time - Int64(clamping: limits.batchAge)
        let bytes = details.reduce(0) { $0 + $1.estimatedBytes }
        let stored = BatchAdditions()
        let outcome = try await commit(bytes: bytes) { [series, resources, retention] db in
            stored.begin()
            let outcome = try BatchRows.remember(batch, at: now, forgetting: oldest, in: db)
            guard outcome != .duplicate else { return outcome }
            for one in details {
                let resource = try ResourceRows.id(
                    of: one.resource, seenAt: now, pointsUntil: one.latestEnd, known: resources, in: db)
                retention.hear(from: resource, until: one.latestEnd)
                var new = one
                new.details = []
                for detail in one.details {
                    // A sender that does not number its batches may have sent the span before.
                    guard try batch != nil || !DetailRows.contains(detail, resource: resource, in: db) else { continue }
                    try DetailRows.insert(
                        detail, resource: resource, service: one.resource.service, at: now, in: db)
                    new.details.append(detail)
                }
                let points = new.points
                try StatisticsCoverRows.extend(by: points, of: resource, in: db)
                _ = try series.withLock { index in
                    try ChunkWriting.insert(
                        points, of: resource, service: one.resource.service, at: now, index: &index, in: db)
                }
                stored.add(points, spans: new.details.count, of: one.resource)
            }
            // The batch prunes at most twice as many rows as it added, or it would keep others waiting; ``Expiry`` deletes
            // the rest.
            stored.crowdOut(try DetailPruning.prune(atMost: 2 * stored.spans, at: time, limits, in: db).early)
            return outcome
        }
        early.add(crowdedDetails: stored.crowdedDetails)
        onStored(stored.points, stored.spans)
        return outcome
    }

    package func removeDetails() async throws -> Int {
        // Rows that are stored meanwhile have larger ids.
        let last = try await pool.read { try Int64.fetchOne($0, sql: "SELECT max(id) FROM detail") }
        guard let last else { return 0 }
        try await rememberCalls()
        var removed = 0
        while true {
            let step = try await write { try DetailPruning.remove(upTo: last, atMost: Expiry.maxRows, in: $0) }
            removed += step
            try Task.checkCancellation()
            guard step == Expiry.maxRows else { return removed }
        }
    }
}

extension DetailsBatch {
    fileprivate var latestEnd: UnixNanoseconds {
        details.reduce(0) { max($0, $1.start &+ $1.durationNanoseconds) }
    }
}
