import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// What receivers of notifications have acknowledged.
    @Suite struct NotificationTests {
        private static let day: UInt64 = 86_400

        private let folder: TemporaryFolder
        private let clock = Clock()
        private let store: any Storage
        private let key = NotificationKey(receiver: "https://hooks.example.com/a", environment: "test", finding: "f-1")

        init() async throws {
            folder = try TemporaryFolder()
            clock.time = Samples.time(0)
            store = try await StorageContractTests.makeStore(in: folder, now: { [clock] in clock.time })
        }

        @Test func latestStateOfEachFindingAndReceiverIsKept() async throws {
            #expect(try await store.notified(key) == nil)
            for state in [NotifiedState.open, .ended, .open] {
                // The states may be on different days.
                clock.time += Self.day * 1_000_000_000
                try await store.setNotified(key, state)
                #expect(try await store.notified(key) == state)
            }
            for (receiver, environment, finding) in [
                ("https://hooks.example.com/b", "test", "f-1"), ("https://hooks.example.com/a", nil, "f-1"),
                ("https://hooks.example.com/a", "test", "f-2"),
            ] {
                let other = NotificationKey(receiver: receiver, environment: environment, finding: finding)
                #expect(try await store.notified(other) == nil)
            }
        }

        @Test func stateIsForgottenAfterThirtyDays() async throws {
            try await store.setNotified(key, .open)
            try await store.maintain()
            for (day, state) in [(29, .open), (32, nil)] as [(UInt64, NotifiedState?)] {
                // After a jump, a clock is believed once it has run on and a sender agrees with it.
                for seconds in [day * Self.day, day * Self.day + 3_600] {
                    clock.time = Samples.time(seconds)
                    try await store.maintain()
                    _ = try await store.store([Samples.metrics(end: seconds)], of: nil)
                }
                try await store.maintain()
                #expect(try await store.notified(key) == state)
            }
        }
    }
}
