import MartletStorage
import MartletTelemetry

/// A store whose reports wait for a gate to open, or for their task to be cancelled.
struct HeldReads: StorageWrapper {
    let storage: any Storage
    let gate: Gate

    func statistics(
        _ queries: [StatisticsQuery]
    ) async throws -> [Result<StatisticsAnswer, TooManyGroups>] {
        await gate.pass()
        return try await storage.statistics(queries)
    }
}
