import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    /// Stores a batch's id and its contents in one transaction: either both or neither.
    ///
    /// - Parameter contents: stores the contents. Not called if the id is known.
    private func store(
        _ batch: BatchID?, bytes: Int, at now: UnixNanoseconds,
        _ contents: @escaping @Sendable (inout StoredBatch, Database) throws -> Void
    ) async throws -> StoreOutcome {
        let oldest = retention.time(at: now) - Int64(clamping: limits.batchAge)
        let stored = try await commit(bytes: bytes) { db in
            var stored = StoredBatch(outcome: try BatchRows.remember(batch, at: now, forgetting: oldest, in: db))
            if stored.outcome != .duplicate { try contents(&stored, db) }
            return stored
        }
        early.add(crowdedDetails: stored.crowdedDetails)
        onStored(stored.points, stored.spans)
        return stored.outcome
    }

    package func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome {
        let (now, bytes) = (now(), metrics.reduce(0) { $0 + $1.estimatedBytes })
        return try await store(batch, bytes: bytes, at: now) {
            [limits, series, resources, streams, retention] stored, db in
            var isAllKnown = batch == nil
            for one in metrics {
                let resource = try ResourceRows.id(
                    of: one.resource, seenAt: now, pointsUntil: one.latestEnd, latest: one.latestTime,
                    known: resources, in: db)
                retention.hear(from: resource, until: one.latestTime)
                let newRequests = try CumulativeRows.newRequests(
                    in: one.cumulative, resource: resource, at: now, limits, streams, in: db)
                let isUnnumbered = batch == nil && !one.resource.isMartlet
                let arrived =
                    try isUnnumbered ? Self.new(in: one, of: resource, in: db) : (points: one.points, identities: [:])
                let points = try series.withLock { index in
                    let service = one.resource.service
                    var new = try ChunkWriter.insert(
                        arrived.points, of: resource, service: service,
                        unlessKnown: isUnnumbered && one.arrived.isEmpty, arrived: arrived.identities, at: now,
                        index: &index, in: db)
                    // Even an addition of nothing would copy all points.
                    if !newRequests.isEmpty {
                        new += try ChunkWriter.insert(
                            newRequests, of: resource, service: service, at: now, index: &index, in: db)
                    }
                    return new
                }
                // If an unnumbered sender resends points, the same figures of its process come with them.
                let isKnown = points.isEmpty && !one.points.isEmpty
                if !isKnown {
                    try ProcessRows.insert(
                        one, of: resource, unlessKnown: isUnnumbered, limits, in: db)
                }
                if !one.resource.isMartlet { try StatisticsCoverRows.extend(by: points, of: resource, in: db) }
                var new = InstanceMetrics(resource: one.resource, points: points)
                new.ends = try ProcessEndRows.insert(one.ends, from: one.resource, in: db)
                stored.points.append(new)
                isAllKnown = isAllKnown && isKnown
                if let reading = one.ledger {
                    let requests = newRequests.reduce(one.requests) { $0 &+ $1.statistics.requests }
                    try LedgerRows.insert(reading, requests: requests, resource: resource, in: db)
                }
            }
            if isAllKnown, !metrics.isEmpty { stored.outcome = .duplicate }
        }
    }

    /// Returns the points of a sender without batch numbers that it has not sent before, and their identities by end.
    private static func new(
        in metrics: InstanceMetrics, of resource: Int64, in db: Database
    ) throws -> (points: [RequestPoint], identities: [UnixNanoseconds: [UInt64]]) {
        guard !metrics.arrived.isEmpty else { return (metrics.points, [:]) }
        let known = try ChunkRow.arrived(at: Set(metrics.points.lazy.map(\.end)), of: resource, in: db)
        return metrics.arrived.new(in: metrics.points, known: known)
    }

    package func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome {
        let (now, bytes) = (now(), details.reduce(0) { $0 + $1.estimatedBytes })
        let time = retention.time(at: now)
        return try await store(batch, bytes: bytes, at: now) { [limits, series, resources, retention] stored, db in
            for one in details {
                let resource = try ResourceRows.id(
                    of: one.resource, seenAt: now, pointsUntil: one.latestEnd, latest: one.latestEnd,
                    known: resources, in: db)
                retention.hear(from: resource, until: one.latestEnd)
                let traces = one.resource.isMartlet ? [] : one.details.filter { $0.request != nil }.map(\.traceID)
                let known = try DetailRows.outlines(ofTraces: Set(traces), resource: resource, in: db)
                let owners = try DetailOwner.owners(
                    of: one.details, service: one.resource.service, in: db)
                var new = one
                new.details = []
                for detail in one.details {
                    // A sender that does not number its batches may already have sent the span.
                    guard try batch != nil || !DetailRows.contains(detail, resource: resource, in: db) else { continue }
                    try DetailRows.insert(
                        detail, resource: resource, service: one.resource.service,
                        owner: owners[detail.traceID] ?? DetailOwner(), at: now, in: db)
                    new.details.append(detail)
                }
                let points = new.points(besides: known)
                try StatisticsCoverRows.extend(by: points, of: resource, in: db)
                _ = try series.withLock { index in
                    try ChunkWriter.insert(
                        points, of: resource, service: one.resource.service, at: now, index: &index, in: db)
                }
                stored.points.append(InstanceMetrics(resource: one.resource, points: points))
                stored.spans += new.details.count
            }
            // The batch deletes at most twice as many rows as it added, so that other batches do not wait. ``Expiry`` deletes
            // the rest.
            stored.crowdedDetails = try DetailPruning.prune(atMost: 2 * stored.spans, at: time, limits, in: db).early
        }
    }

    package func removeDetails() async throws -> Int {
        // Rows stored meanwhile have larger ids.
        let last = try await pool.read { try Int64.fetchOne($0, sql: "SELECT max(id) FROM detail") }
        guard let last else { return 0 }
        try await rememberCalls()
        var removed = 0
        while true {
            let step = try await write {
                try DetailPruning.remove(upTo: last, atMost: SQLiteLimits.deletedRows, in: $0)
            }
            removed += step
            try Task.checkCancellation()
            guard step == SQLiteLimits.deletedRows else { return removed }
        }
    }
}
