import MartletPoints
import MartletStorage
import MartletTelemetry

/// A store whose reports wait for a gate to open, or for their task to be cancelled.
struct HeldReads: Storage {
    let base: any Storage
    let gate: Gate

    func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome {
        try await base.store(metrics, of: batch)
    }

    func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome {
        try await base.store(details, of: batch)
    }

    func statistics(_ query: StatisticsQuery) async throws -> StatisticsAnswer {
        await gate.pass()
        return try await base.statistics(query)
    }

    func spans(ofTrace trace: TraceID) async throws -> [StoredSpan] { try await base.spans(ofTrace: trace) }

    func agents(seenSince time: UnixNanoseconds, limit: Int) async throws -> AgentsAnswer {
        try await base.agents(seenSince: time, limit: limit)
    }

    func check() async throws { try await base.check() }

    func size() async throws -> UInt64 { try await base.size() }
}
