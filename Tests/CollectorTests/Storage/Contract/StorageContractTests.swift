import Fixtures
import MartletClickHouseStorage
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// The contract of every ``Storage``. The suites in its extensions know the store only through the protocol and the function below,
/// which creates an empty store. With `MARTLET_TEST_STORE=clickhouse` it creates one on this machine's ClickHouse
/// (``TestedStore``).
@Suite(
    .enabled(if: TestedStore.isThere, "the store cannot be had here"))
struct StorageContractTests {
    static func makeStore(
        in folder: TemporaryFolder, now: @escaping @Sendable () -> UnixNanoseconds = SystemClock.now
    ) async throws -> any Storage {
        guard TestedStore.isClickHouse else {
            return try SQLiteStorage(path: folder.path("collector.sqlite"), now: now)
        }
        return try await ClickHouseDatabase(try #require(TestedClickHouse.current)).open(now: now)
    }

    /// Returns once the stored points count. A store on ClickHouse computes the differences of cumulative points later.
    static func countCumulativePoints(in storage: any Storage) async throws {
        if TestedStore.isClickHouse { try await storage.maintain() }
    }
}
