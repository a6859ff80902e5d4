import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// The findings that a store's file keeps.
@Suite struct FindingRowsTests {
    @Test func oldestOfAnEnvironmentMakeRoomForNewOnes() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStorage(path: folder.path("collector.sqlite"))
        func records(_ numbers: Range<Int>, _ environment: String) -> [FindingRecord] {
            numbers.map {
                let time = Samples.time(UInt64($0))
                return FindingRecord(
                    environment: environment, id: "f-\($0)", began: time, end: time, changed: time, text: "{}")
            }
        }
        try await store.keep(records(0..<5, "other") + records(0..<FindingRecord.limit, "test"), removing: [])
        try await store.keep(records(FindingRecord.limit..<FindingRecord.limit + 3, "test"), removing: [])
        let kept = try await store.findings(FindingRecordsQuery(window: Samples.everything, limit: .max))
        #expect(kept.count == FindingRecord.limit + 5)
        #expect(kept.filter { $0.environment == "test" }.last?.id == "f-3")
    }
}
