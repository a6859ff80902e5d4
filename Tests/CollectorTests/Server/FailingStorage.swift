import MartletPoints
import MartletStorage
import MartletTelemetry

/// A store that throws an error for every batch.
struct FailingStorage: Storage {
    private let base: any Storage
    private let error: any Error

    init(_ base: any Storage, error: any Error) {
        self.base = base
        self.error = error
    }

    func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome { throw error }

    func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome { throw error }

    func statistics(_ query: StatisticsQuery) async throws -> StatisticsAnswer { try await base.statistics(query) }

    func spans(ofTrace trace: TraceID) async throws -> [StoredSpan] { try await base.spans(ofTrace: trace) }

    func agents(seenSince time: UnixNanoseconds, limit: Int) async throws -> AgentsAnswer {
        try await base.agents(seenSince: time, limit: limit)
    }

    func check() async throws { try await base.check() }

    func size() async throws -> UInt64 { try await base.size() }
}
