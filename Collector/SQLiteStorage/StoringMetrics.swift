import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    /// In one transaction: the batch's id is there if and only if its points are.
    package func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome {
        let (now, limits) = (now(), limits)
        let bytes = metrics.reduce(0) { $0 + $1.estimatedBytes }
        let stored = StoredPoints()
        let outcome = try await commit(bytes: bytes) { [series] db in
            stored.begin()
            let outcome = try BatchRows.remember(batch, at: now, keeping: limits.batchAge, in: db)
            guard outcome != .duplicate else { return outcome }
            for one in metrics {
                let resource = try ResourceRows.id(
                    of: one.resource, seenAt: now, pointsUntil: one.latestEnd, in: db)
                let points = try newPoints(of: one, resource: resource, at: now, limits, in: db)
                try series.withLock { index in
                    try ChunkWriting.insert(points, of: resource, service: one.resource.service, index: &index, in: db)
                }
                stored.add(points, of: one.resource)
                if let reading = one.ledger {
                    try LedgerRows.insert(reading, requests: one.requests, resource: resource, in: db)
                }
            }
            return outcome
        }
        onStored(stored.all)
        return outcome
    }
}

extension InstanceMetrics {
    fileprivate var latestEnd: UnixNanoseconds {
        max(points.indices.reduce(0) { max($0, points[$1].end) }, cumulative.map(\.point.end).max() ?? 0)
    }

    /// Roughly its memory.
    fileprivate var estimatedBytes: Int {
        points.indices.reduce(1024) { $0 + points[$1].statistics.estimatedBytes }
            + cumulative.reduce(0) { $0 + $1.point.statistics.estimatedBytes }
    }
}

/// What the metrics tell that was not known, of a sender that counts on too.
private func newPoints(
    of metrics: InstanceMetrics, resource: Int64, at now: UnixNanoseconds, _ limits: SQLiteLimits, in db: Database
) throws -> [RequestPoint] {
    var points = metrics.points
    if !metrics.cumulative.isEmpty {
        points += try CumulativeRows.differences(
            of: metrics.cumulative, resource: resource, at: now, limits, in: db)
    }
    if !metrics.resource.isMartlet { try StatisticsCover.extend(by: points, of: resource, in: db) }
    return points
}
