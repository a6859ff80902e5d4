import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@Suite struct ForgottenSenderTests {
    /// The next sender reuses the number of a deleted row.
    @Test func senderIsKnownAsLongAsAnHourHasItsRequests() async throws {
        let (folder, clock) = (try TemporaryFolder(), Clock())
        var limits = SQLiteLimits()
        let hour: UInt64 = 3600
        (limits.retention.fine, limits.retention.minutes) = (hour * 1_000_000_000, hour * 1_000_000_000)
        limits.retention.hours = hour * 1_000_000_000
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"), limits: limits, now: { clock.time })
        // The samples' time begins 13 minutes and 20 seconds after a full hour.
        let start: UInt64 = 46 * 60 + 40
        func store(_ service: String, end: UInt64) async throws {
            clock.time = Samples.time(end)
            let point = Samples.point(Samples.dimensions(), [0.1], end: end)
            _ = try await storage.store(
                [InstanceMetrics(resource: Samples.resource(service), points: [point])], of: nil)
        }
        try await store("gone", end: start + 60)
        for time in [start + hour + 120, start + hour + 360] {
            clock.time = Samples.time(time)
            try await storage.maintain()
        }
        try await store("new", end: start + hour + 361)
        let window = TimeWindow(from: Samples.time(start), to: clock.time)
        let answer = try await storage.statistics(StatisticsQuery(window: window, by: [.service]))
        #expect(
            Dictionary(uniqueKeysWithValues: answer.groups.map { ($0.values, $0.count) }) == [["gone"]: 1, ["new"]: 1])
    }
}
