import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// The calls that a store's file remembers.
@Suite struct ObservedCallRowsTests {
    private static let hour: UInt64 = 3600

    private let folder: TemporaryFolder
    private let clock = Clock()

    init() throws {
        folder = try TemporaryFolder()
        clock.time = Samples.time(100)
    }

    private func open(_ change: (inout SQLiteLimits) -> Void = { _ in }) throws -> SQLiteStorage {
        var limits = SQLiteLimits()
        limits.clockPatience = .max
        change(&limits)
        return try SQLiteStorage(path: folder.path("collector.sqlite"), limits: limits, now: { [clock] in clock.time })
    }

    private static func window(_ from: UInt64, _ to: UInt64) -> TimeWindow {
        TimeWindow(from: Samples.time(from), to: Samples.time(to))
    }

    @Test func callsStayWhenOtherDetailsDisplaceTheirSpans() async throws {
        let store = try open { $0.maxDetails = 2 }
        try await CallSpans.call(in: store)
        try await store.maintain()
        for number in 10...20 as ClosedRange<UInt8> {
            try await CallSpans.keep([("pay", CallSpans.span(number, .server, host: "pay"))], in: store)
            try await CallSpans.keep([("shop", CallSpans.span(number + 20, .client, host: "proxy"))], in: store)
        }
        let kept = try await store.requests(RequestsQuery(window: Samples.everything, limit: 9)).requests
        #expect(kept.count == 2 && kept.allSatisfy { $0.span.parentSpanID == nil && $0.span.spanID.value >= 10 })
        #expect(try await store.calls() == [CallSpans.observed])
    }

    @Test func callsStayWhenDetailsMakeRoomForPoints() async throws {
        let store = try open { $0.maxStoreBytes = 1 }
        try await CallSpans.call(in: store)
        try await store.maintain()
        #expect(try await store.keptRequests() == 0)
        #expect(try await store.calls() == [CallSpans.observed])
    }

    @Test func callIsForgottenWithThePointsOfHours() async throws {
        let store = try open { $0.retention.hours = 400 * Self.hour * 1_000_000_000 }
        try await CallSpans.call(in: store)
        clock.time = Samples.time(400 * Self.hour)
        try await store.maintain()
        #expect(try await store.calls() == [CallSpans.observed])
        clock.time = Samples.time(400 * Self.hour + 2)
        try await store.maintain()
        #expect(try await store.calls() == [])
    }

    @Test func mostRecentlyObservedCallsAreRemembered() async throws {
        let store = try open { $0.maxObservedCalls = 2 }
        for (number, host) in ["a", "b", "c", "b", "d"].enumerated() {
            try await CallSpans.call(UInt8(number + 1), served: host, at: UInt64(number), in: store)
            _ = try await store.removeDetails()
        }
        #expect(try await store.calls().map(\.servedHost).sorted() == ["b:80", "d:80"])
    }

    @Test func callIsInEveryWindowFromItsFirstSpanToItsLast() async throws {
        let store = try open()
        for second in [30, 20, 40] as [UInt64] { try await CallSpans.call(UInt8(second), at: second, in: store) }
        _ = try await store.removeDetails()
        for (from, to, count) in [(0, 19, 0), (0, 20, 1), (25, 26, 1), (39, 90, 1), (40, 90, 0)]
            as [(UInt64, UInt64, Int)]
        {
            #expect(try await store.calls(in: Self.window(from, to)).count == count, "\(from) to \(to)")
        }
    }

    /// The sender's clock is a day ahead.
    @Test func spanThatStartsAfterItsArrivalCountsAtItsArrival() async throws {
        let store = try open()
        try await CallSpans.call(at: 24 * Self.hour, in: store)
        _ = try await store.removeDetails()
        #expect(try await store.calls(in: Self.window(90, 100)) == [CallSpans.observed])
        #expect(try await store.calls(in: Self.window(100, 30 * Self.hour)) == [])
    }

    @Test func reopenedStoreRemembersItsCallsAndThoseOfItsSpans() async throws {
        let before = try open()
        try await CallSpans.call(1, served: "a", in: before)
        _ = try await before.removeDetails()
        try await CallSpans.call(2, served: "b", in: before)
        try before.close()
        let store = try open()
        _ = try await store.removeDetails()
        #expect(try await store.calls().map(\.servedHost).sorted() == ["a:80", "b:80"])
    }

    /// A sender may give all its spans the same ids. A join of these spans would have a row for every pair.
    @Test func manySpansWithOneIDAreComparedUpToALimit() async throws {
        let store = try open()
        let client = CallSpans.span(1, .client, host: "proxy")
        let server = CallSpans.span(2, .server, host: "pay", parent: client)
        for (service, span) in [("shop", client), ("pay", server)] {
            let batch = DetailsBatch(
                resource: Samples.resource(service), details: Array(repeating: span, count: 20_000))
            _ = try await store.store([batch], of: BatchID(instance: service, sequence: 1, signal: .traces))
        }
        #expect(try await store.removeDetails() == 40_000)
        #expect(try await store.calls() == [CallSpans.observed])
    }
}
