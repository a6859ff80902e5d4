import HummingbirdTesting
import MartletSQLiteStorage
import MartletStorage
import Testing

/// Maintenance of the store on `GET /metrics`.
@Suite struct MaintenanceMetricsTests {
    private static let latest = "martlet_collector_last_maintenance_timestamp_seconds"
    private static let failures = "martlet_collector_maintenance_failures_total"

    /// A store whose maintenance fails.
    private struct WornStorage: StorageWrapper {
        let storage: any Storage

        func maintain() async throws { throw StorageFailure("the disk is full") }
    }

    /// Runs a collector that began at second 60 and tried a pass of maintenance at second 90.
    private func withMaintainedServer(
        _ wrap: (SQLiteStorage) -> any Storage = { $0 }, _ body: @Sendable (PrometheusPage) -> Void
    ) async throws {
        let clock = Clock()
        clock.time = Samples.time(60)
        try await withServer(
            now: { clock.time }, storage: wrap,
            prepare: { server in
                clock.time = Samples.time(90)
                try? await server.storage.maintain()
            }
        ) { client in body(try await client.page()) }
    }

    @Test func completePassSetsTheTime() async throws {
        try await withMaintainedServer { page in
            #expect(page.value(Self.latest) == 1_790_000_090)
            #expect(page.value(Self.failures) == 0)
        }
    }

    @Test func failedPassIsCountedAndKeepsTheTime() async throws {
        try await withMaintainedServer({ WornStorage(storage: $0) }) { page in
            #expect(page.value(Self.latest) == 1_790_000_060)
            #expect(page.value(Self.failures) == 1)
        }
    }
}
