import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletClickHouseStorage

/// The calls between services that a store on ClickHouse remembers.
@Suite(.enabled("a ClickHouse is installed") { TestedClickHouse.current != nil })
struct ClickHouseCallTests {
    private static let day: UInt64 = 24 * 3600

    private let database: ClickHouseDatabase
    private let clock = Clock()

    init() async throws {
        database = try await ClickHouseDatabase(try #require(TestedClickHouse.current))
        clock.time = Samples.time(10)
    }

    private func collector(maxObservedCalls: Int = 100) async throws -> ClickHouseStorage {
        try await database.open(maxObservedCalls: maxObservedCalls, now: { [clock] in clock.time })
    }

    private func rows(_ store: ClickHouseStorage) async throws -> Int {
        try await store.client.count("FROM observed_call")
    }

    @Test func callIsForgottenWithThePointsOfHours() async throws {
        let store = try await collector()
        try await CallSpans.call(in: store)
        for _ in 0..<15 {
            try await store.maintain()
            #expect(try await store.calls() == [CallSpans.observed])
            clock.time += 26 * Self.day * 1_000_000_000
        }
        try await store.maintain()
        clock.time += 39 * Self.day * 1_000_000_000
        try await store.maintain()
        #expect(try await store.calls() == [])
        #expect(try await rows(store) == 0)
    }

    @Test func callsOfADayAreLimited() async throws {
        let store = try await collector(maxObservedCalls: 2)
        for number in 1...4 as ClosedRange<UInt8> {
            try await CallSpans.call(number, served: "host-\(number)", in: store)
            _ = try await store.removeDetails()
        }
        #expect(try await store.calls().map(\.servedHost).sorted() == ["host-1:80", "host-2:80"])
        clock.time += Self.day * 1_000_000_000
        try await CallSpans.call(5, served: "host-5", at: Self.day, in: store)
        _ = try await store.removeDetails()
        #expect(try await store.calls().count == 3)
    }

    @Test func spansOfACallThroughTwoCollectorsMakeOneRow() async throws {
        let (one, other) = (try await collector(), try await collector())
        let client = CallSpans.span(1, .client, host: "proxy")
        try await CallSpans.keep([("shop", client)], in: one)
        for store in [one, other] { try await store.maintain() }
        clock.time += 30_000_000_000
        try await CallSpans.keep([("pay", CallSpans.span(2, .server, host: "pay", parent: client))], in: other)
        for store in [one, other, one] { try await store.maintain() }
        #expect(try await rows(one) == 1)
        _ = try await other.removeDetails()
        #expect(try await one.calls() == [CallSpans.observed])
    }
}
