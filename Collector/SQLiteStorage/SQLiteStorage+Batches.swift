import GRDB
import MartletStorage
import MartletTelemetry
import Synchronization

extension SQLiteStorage {
    /// Stores a batch's id and its contents in one transaction: either both or neither.
    ///
    /// - Parameter contents: stores the contents unless the id is known. Returns whether all of them were known.
    private func store(
        _ batch: BatchID?, bytes: Int, at now: UnixNanoseconds,
        _ contents: @escaping @Sendable (BatchAdditions, Database) throws -> Bool
    ) async throws -> StoreOutcome {
        let oldest = retention.time(at: now) - Int64(clamping: limits.batchAge)
        let stored = BatchAdditions()
        let outcome = try await commit(bytes: bytes) { db in
            stored.begin()
            let outcome = try BatchRows.remember(batch, at: now, forgetting: oldest, in: db)
            return try outcome == .duplicate || contents(stored, db) ? .duplicate : outcome
        }
        early.add(crowdedDetails: stored.crowdedDetails)
        onStored(stored.points, stored.spans)
        return outcome
    }

    package func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome {
        let (now, bytes) = (now(), metrics.reduce(0) { $0 + $1.estimatedBytes })
        return try await store(batch, bytes: bytes, at: now) {
            [limits, series, resources, streams, retention] stored, db in
            var isAllKnown = batch == nil
            for one in metrics {
                let resource = try ResourceRows.id(
                    of: one.resource, seenAt: now, pointsUntil: one.latestEnd, known: resources, in: db)
                retention.hear(from: resource, until: one.latestTime)
                let newRequests = try CumulativeRows.newRequests(
                    in: one.cumulative, resource: resource, at: now, limits, streams, in: db)
                let points = try series.withLock { index in
                    let service = one.resource.service
                    var new = try ChunkWriter.insert(
                        one.points, of: resource, service: service,
                        unlessKnown: batch == nil && !one.resource.isMartlet, at: now, index: &index, in: db)
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
                        one, of: resource, unlessKnown: batch == nil && !one.resource.isMartlet, limits, in: db)
                }
                if !one.resource.isMartlet { try StatisticsCoverRows.extend(by: points, of: resource, in: db) }
                stored.add(points, of: one.resource)
                isAllKnown = isAllKnown && isKnown
                if let reading = one.ledger {
                    let requests = newRequests.reduce(one.requests) { $0 &+ $1.statistics.requests }
                    try LedgerRows.insert(reading, requests: requests, resource: resource, in: db)
                }
            }
            return isAllKnown && !metrics.isEmpty
        }
    }

    package func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome {
        let (now, bytes) = (now(), details.reduce(0) { $0 + $1.estimatedBytes })
        let time = retention.time(at: now)
        return try await store(batch, bytes: bytes, at: now) { [limits, series, resources, retention] stored, db in
            for one in details {
                let resource = try ResourceRows.id(
                    of: one.resource, seenAt: now, pointsUntil: one.latestEnd, known: resources, in: db)
                retention.hear(from: resource, until: one.latestEnd)
                var new = one
                new.details = []
                for detail in one.details {
                    // A sender that does not number its batches may already have sent the span.
                    guard try batch != nil || !DetailRows.contains(detail, resource: resource, in: db) else { continue }
                    try DetailRows.insert(
                        detail, resource: resource, service: one.resource.service, at: now, in: db)
                    new.details.append(detail)
                }
                let points = new.points
                try StatisticsCoverRows.extend(by: points, of: resource, in: db)
                _ = try series.withLock { index in
                    try ChunkWriter.insert(
                        points, of: resource, service: one.resource.service, at: now, index: &index, in: db)
                }
                stored.add(points, spans: new.details.count, of: one.resource)
            }
            // The batch deletes at most twice as many rows as it added, so that others do not wait. ``Expiry`` deletes the rest.
            stored.crowdOut(try DetailPruning.prune(atMost: 2 * stored.spans, at: time, limits, in: db).early)
            return false
        }
    }

    package func removeDetails() async throws -> Int {
        // Rows stored meanwhile have larger ids.
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

/// The points and spans that a batch adds to the store, for the callback after the commit.
final class BatchAdditions: Sendable {
    private struct State {
        var points: [InstanceMetrics] = []
        var spans = 0
        var crowdedDetails = 0
    }

    private let state = Mutex(State())

    var points: [InstanceMetrics] { state.withLock { $0.points } }
    var spans: Int { state.withLock { $0.spans } }
    /// Older details deleted to make room.
    var crowdedDetails: Int { state.withLock { $0.crowdedDetails } }

    /// Empties the additions. The work of a commit calls it first, because it runs again if other work in the same transaction
    /// fails.
    func begin() {
        state.withLock { $0 = State() }
    }

    func crowdOut(_ details: Int) {
        state.withLock { $0.crowdedDetails += details }
    }

    func add(_ points: [RequestPoint], spans: Int = 0, of resource: TelemetryResource) {
        state.withLock {
            $0.points.append(InstanceMetrics(resource: resource, points: points))
            $0.spans += spans
        }
    }
}
