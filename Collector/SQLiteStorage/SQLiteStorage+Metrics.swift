import GRDB
import MartletPoints
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    /// Stores the batch's id and its points in one transaction, so that either both are stored or neither.
    package func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome {
        let (now, limits) = (now(), limits)
        let oldest = retention.time(at: now) - Int64(clamping: limits.batchAge)
        let bytes = metrics.reduce(0) { $0 + $1.estimatedBytes }
        let stored = BatchAdditions()
        let outcome = try await commit(bytes: bytes) { [series, resources, streams, retention] db in
            stored.begin()
            let outcome = try BatchRows.remember(batch, at: now, forgetting: oldest, in: db)
            guard outcome != .duplicate else { return outcome }
            var isAllKnown = batch == nil
            for one in metrics {
                let resource = try ResourceRows.id(
                    of: one.resource, seenAt: now, pointsUntil: one.latestEnd, known: resources, in: db)
                retention.hear(from: resource, until: one.latestTime)
                let newRequests = try CumulativeRows.newRequests(
                    in: one.cumulative, resource: resource, at: now, limits, streams, in: db)
                let points = try series.withLock { index in
                    let service = one.resource.service
                    var new = try ChunkWriting.insert(
                        one.points, of: resource, service: service,
                        unlessKnown: batch == nil && !one.resource.isMartlet, at: now, index: &index, in: db)
                    // Even an empty addition would copy all points.
                    if !newRequests.isEmpty {
                        new += try ChunkWriting.insert(
                            newRequests, of: resource, service: service, at: now, index: &index, in: db)
                    }
                    return new
                }
                // Points that an unnumbered sender sends again come with the same figures of its process.
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
            return isAllKnown && !metrics.isEmpty ? .duplicate : outcome
        }
        onStored(stored.points, stored.spans)
        return outcome
    }
}

extension InstanceMetrics {
    fileprivate var latestEnd: UnixNanoseconds {
        [
            points.indices.reduce(0) { max($0, points[$1].end) }, cumulative.map(\.point.end).max() ?? 0,
            process.map(\.end).max() ?? 0, processTotals.map(\.end).max() ?? 0,
        ].max() ?? 0
    }

    /// The latest time that the sender told.
    fileprivate var latestTime: UnixNanoseconds { max(latestEnd, ledger?.time ?? 0) }
}
