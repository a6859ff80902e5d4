import MartletPoints
import MartletTelemetry

/// A store that passes every call on to another. A type that conforms implements the calls that it changes.
package protocol StorageWrapper: Storage {
    var storage: any Storage { get }
}

extension StorageWrapper {
    package var id: String { storage.id }

    package func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome {
        try await storage.store(metrics, of: batch)
    }

    package func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome {
        try await storage.store(details, of: batch)
    }

    package func statistics(
        _ queries: [StatisticsQuery]
    ) async throws -> [Result<StatisticsAnswer, TooManyGroups>] {
        try await storage.statistics(queries)
    }

    package func account(in window: TimeWindow, _ filter: RequestFilter) async throws -> WindowAccount {
        try await storage.account(in: window, filter)
    }

    package func processes(_ query: ProcessQuery) async throws -> ProcessAnswer { try await storage.processes(query) }

    package func values(_ query: ValuesQuery) async throws -> ValuesAnswer { try await storage.values(query) }

    package func requests(_ query: RequestsQuery) async throws -> RequestsAnswer { try await storage.requests(query) }

    package func cells(_ query: RequestCellsQuery) async throws -> [[Int]] { try await storage.cells(query) }

    package func request(_ id: String) async throws -> StoredSpan? { try await storage.request(id) }

    package func spans(ofTrace trace: TraceID, limit: Int) async throws -> TraceAnswer {
        try await storage.spans(ofTrace: trace, limit: limit)
    }

    package func calls(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int
    ) async throws -> Set<ObservedCall> {
        try await storage.calls(in: window, filter, limit: limit)
    }

    package func removeDetails() async throws -> Int { try await storage.removeDetails() }

    package func agents(
        seenSince time: UnixNanoseconds, _ filter: RequestFilter, limit: Int
    ) async throws -> AgentsAnswer {
        try await storage.agents(seenSince: time, filter, limit: limit)
    }

    package var fault: String? { storage.fault }

    package func size() async throws -> UInt64 { try await storage.size() }

    package func state() async throws -> StorageState { try await storage.state() }

    package func maintain() async throws { try await storage.maintain() }

    package func freeBytes() async -> UInt64? { await storage.freeBytes() }
}
