import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// Calls between services, after the spans that showed them have gone.
    @Suite struct RememberedCallTests {
        private static let hour: UInt64 = 3600

        private let folder: TemporaryFolder
        private let clock = Clock()
        private let store: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            clock.time = Samples.time(10)
            store = try await StorageContractTests.makeStore(in: folder, now: { [clock] in clock.time })
        }

        @Test func callsStayWhenDetailsAreCleared() async throws {
            try await CallSpans.call(in: store)
            #expect(try await store.calls() == [CallSpans.observed])
            #expect(try await store.removeDetails() == 2)
            #expect(try await store.calls() == [CallSpans.observed])
            try await store.maintain()
            #expect(try await store.calls() == [CallSpans.observed])
        }

        @Test func callsStayWhenDetailsExpire() async throws {
            try await CallSpans.call(in: store)
            try await store.maintain()
            // After a jump, a clock is believed once it has run on and a sender agrees with it.
            for hours in [204, 205] as [UInt64] {
                clock.time = Samples.time(hours * Self.hour)
                try await store.maintain()
                _ = try await store.store([Samples.metrics(end: hours * Self.hour)], of: nil)
            }
            try await store.maintain()
            #expect(try await store.keptRequests() == 0)
            #expect(try await store.calls() == [CallSpans.observed])
        }

        @Test func callersSpanMayArriveAfterTheCallees() async throws {
            let client = CallSpans.span(1, .client, host: "proxy")
            try await CallSpans.keep([("pay", CallSpans.span(2, .server, host: "pay", parent: client))], in: store)
            try await store.maintain()
            #expect(try await store.calls() == [])
            try await CallSpans.keep([("shop", client)], in: store)
            _ = try await store.removeDetails()
            #expect(try await store.calls() == [CallSpans.observed])
        }

        @Test func callsOfAServiceToItselfAreNotRemembered() async throws {
            let own = CallSpans.span(1, .client, host: "self")
            try await CallSpans.keep(
                [("shop", own), ("shop", CallSpans.span(2, .server, host: "self", parent: own))], in: store)
            _ = try await store.removeDetails()
            #expect(try await store.calls() == [])
        }

        /// A store may know the time of a call only by the day.
        @Test func windowFilterAndLimitApplyToRememberedCalls() async throws {
            try await CallSpans.call(in: store)
            _ = try await store.removeDetails()
            let days = { (number: UInt64) in Samples.time(number * 24 * Self.hour) }
            #expect(try await store.calls(in: TimeWindow(from: days(2), to: days(3))) == [])
            #expect(try await store.calls(RequestFilter([.service: ["pay"]])).count == 1)
            #expect(try await store.calls(RequestFilter([.service: ["shop"]])) == [])
            #expect(try await store.calls(RequestFilter([.environment: ["test"]])).count == 1)
            #expect(try await store.calls(RequestFilter([.environment: ["production"]])) == [])
            #expect(try await store.calls(RequestFilter([.version: ["1.2"]])) == [])
            #expect(try await store.calls(in: Samples.everything, RequestFilter(), limit: 0) == [])
        }
    }
}
