import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// The contract of every ``Storage``. The suites in its extensions know the store only by the protocol and by the function
/// below, which makes an empty one. To test another store, make it there.
@Suite struct StorageContractTests {
    static func makeStore(
        in folder: TemporaryFolder, now: @escaping @Sendable () -> UnixNanoseconds = SQLiteStorage.systemClock
    ) throws -> any Storage {
        try SQLiteStorage(path: folder.path("collector.sqlite"), now: now)
    }
}
