import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// What every ``Storage`` has to do. The suites in its extensions know nothing else of the store than that, and this function
/// that makes an empty one; another store is tested by making it here.
@Suite struct StorageContractTests {
    static func makeStore(
        in folder: TemporaryFolder, now: @escaping @Sendable () -> UnixNanoseconds = SQLiteStorage.systemClock
    ) throws -> any Storage {
        try SQLiteStorage(path: folder.path("collector.sqlite"), now: now)
    }
}
