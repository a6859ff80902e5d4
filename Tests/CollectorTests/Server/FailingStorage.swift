import MartletStorage
import MartletTelemetry

/// A store that throws an error for every batch.
struct FailingStorage: StorageWrapper {
    let storage: any Storage
    private let error: any Error

    init(_ storage: any Storage, error: any Error) {
        self.storage = storage
        self.error = error
    }

    func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome { throw error }

    func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome { throw error }
}
