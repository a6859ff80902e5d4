import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// Kept findings.
    @Suite struct FindingStorageTests {
        private static let hour: UInt64 = 3600

        private let folder: TemporaryFolder
        private let clock = Clock()
        private let store: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            clock.time = Samples.time(10 * Self.hour)
            store = try await StorageContractTests.makeStore(in: folder, now: { [clock] in clock.time })
        }

        /// A finding with its times in hours.
        private func record(
            _ id: String, _ environment: String = "test", from began: UInt64 = 1, to end: UInt64? = nil,
            changed: UInt64 = 1, _ text: String = "{}"
        ) -> FindingRecord {
            func time(_ hours: UInt64) -> UnixNanoseconds { Samples.time(hours * Self.hour) }
            return FindingRecord(
                environment: environment, id: id, began: time(began), end: end.map(time), changed: time(changed),
                text: text)
        }

        private func ids(
            _ from: UInt64 = 0, _ to: UInt64 = 1_000, in environments: Set<String>? = nil, limit: Int = 100
        ) async throws -> [String] {
            let window = TimeWindow(from: Samples.time(from * Self.hour), to: Samples.time(to * Self.hour))
            return try await store.findings(
                FindingRecordsQuery(window: window, environments: environments, limit: limit)
            ).map(\.id)
        }

        private func all() async throws -> [FindingRecord] {
            try await store.findings(FindingRecordsQuery(window: Samples.everything, limit: 100))
        }

        @Test func recordReplacesTheOneWithItsEnvironmentAndID() async throws {
            let open = record("a", "")
            try await store.keep([open, record("a", "production")], removing: [])
            // A day later, so that no part of a table holds both.
            let closed = record("a", "", to: 2, changed: 30, "{\"é\\\\'\":\"\\u0001\"}")
            try await store.keep([closed], removing: [])
            #expect(try await all().filter { $0.environment.isEmpty } == [closed])
            #expect(try await all().count == 2)
            #expect(try await ids(in: [""]) == ["a"])
            #expect(try await ids(in: ["staging"]) == [])
            #expect(try await ids(in: []) == [])
        }

        @Test func windowSelectsThoseThatReachIntoIt() async throws {
            try await store.keep(
                [record("old", from: 1, to: 2), record("long", from: 2, to: 8), record("open", from: 5)], removing: [])
            #expect(try await ids() == ["open", "long", "old"])
            #expect(try await ids(limit: 2) == ["open", "long"])
            #expect(try await ids(2, 5) == ["long"])
            #expect(try await ids(3, 6) == ["open", "long"])
            #expect(try await ids(8) == ["open"])
            #expect(try await ids(0, 1) == [])
        }

        @Test func removedRecordIsGoneAndMayComeBack() async throws {
            try await store.keep([record("a"), record("b")], removing: [])
            try await store.keep([], removing: [record("a", changed: 2)])
            #expect(try await ids() == ["b"])
            try await store.keep([record("a", changed: 3)], removing: [])
            #expect(try await ids() == ["a", "b"])
        }

        @Test func recordsExpireAMonthAfterTheirLastChange() async throws {
            try await store.keep([record("old", to: 2, changed: 2), record("new", changed: 200)], removing: [])
            try await store.maintain()
            // After a jump, a clock is believed once it has run on and a sender agrees with it.
            for hours in [24 * 33, 24 * 33 + 1] as [UInt64] {
                clock.time = Samples.time(hours * Self.hour)
                try await store.maintain()
                _ = try await store.store([Samples.metrics(end: hours * Self.hour)], of: nil)
            }
            try await store.maintain()
            #expect(try await ids() == ["new"])
        }
    }
}
