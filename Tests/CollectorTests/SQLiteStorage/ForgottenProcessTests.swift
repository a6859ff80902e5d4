import Fixtures
import GRDB
import MartletOTLP
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// The store remembers a limited number of cumulative streams. A forgotten process does not count again from its start.
@Suite struct ForgottenProcessTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func longestSilentStreamsAreForgotten() async throws {
        var limits = SQLiteLimits()
        limits.maxCumulativeSeries = 3
        limits.cumulativeSilence = 0
        let path = folder.path("small.sqlite")
        let storage = try SQLiteStorage(path: path, limits: limits)
        for instance in ["a", "b", "c", "d", "e"] {
            try await OtherMetrics.send(
                [OtherMetrics.histogram([OtherMetrics.point([0.2])])], instance: instance, to: storage)
        }
        let kept = try await DatabaseQueue(path: path).read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT instance FROM cumulative_series JOIN resource ON resource.id = resource_id ORDER BY instance
                    """)
        }
        #expect(kept == ["c", "d", "e"])
    }

    /// Opens a store with room for one process. The next process displaces it.
    private func smallStore() throws -> SQLiteStorage {
        var limits = SQLiteLimits()
        limits.maxCumulativeSeries = 1
        limits.cumulativeSilence = 0
        return try SQLiteStorage(path: folder.path("small.sqlite"), limits: limits)
    }

    private func send(
        _ count: Int, start: UInt64 = 0, end: UInt64, instance: String, to storage: SQLiteStorage
    ) async throws {
        let point = OtherMetrics.point(Array(repeating: 0.2, count: count), start: start, end: end)
        try await OtherMetrics.send([OtherMetrics.histogram([point])], instance: instance, to: storage)
    }

    private func count(in storage: SQLiteStorage) async throws -> UInt64 {
        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: []))
        return answer.groups.reduce(0) { $0 + $1.count }
    }

    @Test func forgottenProcessDoesNotCountFromItsStartAgain() async throws {
        let storage = try smallStore()
        try await send(3, end: 10, instance: "a", to: storage)
        try await send(1, end: 10, instance: "b", to: storage)
        #expect(try await count(in: storage) == 4)
        try await send(5, end: 20, instance: "a", to: storage)
        #expect(try await count(in: storage) == 4, "what came in between is not known")
        try await send(6, end: 30, instance: "a", to: storage)
        #expect(try await count(in: storage) == 5)
    }

    @Test func forgottenProcessWithAFastClockDoesNotAffectLaterOnes() async throws {
        let clock = Clock()
        clock.time = Samples.time(20)
        var limits = SQLiteLimits()
        limits.maxCumulativeSeries = 1
        limits.cumulativeSilence = 0
        let storage = try SQLiteStorage(path: folder.path("small.sqlite"), limits: limits, now: { clock.time })
        try await send(3, start: 10, end: 3000, instance: "shared", to: storage)
        try await send(1, start: 15, end: 20, instance: "other", to: storage)
        clock.time = Samples.time(40)
        try await send(5, start: 30, end: 40, instance: "shared", to: storage)
        #expect(try await count(in: storage) == 9)
    }

    @Test func processThatBeganAfterAForgottenOneCountsInFull() async throws {
        let storage = try smallStore()
        try await send(3, end: 10, instance: "a", to: storage)
        try await send(1, end: 10, instance: "b", to: storage)
        try await send(5, start: 15, end: 20, instance: "a", to: storage)
        #expect(try await count(in: storage) == 9)
    }

    @Test func forgottenProcessThatSharesAResourceDoesNotCountAgain() async throws {
        let storage = try smallStore()
        try await send(3, start: 5, end: 20, instance: "", to: storage)
        try await send(1, start: 0, end: 4, instance: "", to: storage)
        #expect(try await count(in: storage) == 4)
        try await send(3, start: 5, end: 30, instance: "", to: storage)
        #expect(try await count(in: storage) == 4)
    }

    /// If only one stream was forgotten, it would look new and count again.
    @Test func processIsForgottenWithAllItsStreams() async throws {
        var limits = SQLiteLimits()
        limits.maxCumulativeSeries = 5
        limits.cumulativeSilence = 0
        let path = folder.path("small.sqlite")
        let storage = try SQLiteStorage(path: path, limits: limits)
        for instance in ["a", "b", "c"] {
            let points = ["/one", "/two"].map {
                OtherMetrics.point([0.2], attributes: [OTLPKeyValue("http.route", $0)])
            }
            try await OtherMetrics.send([OtherMetrics.histogram(points)], instance: instance, to: storage)
        }
        let kept = try await DatabaseQueue(path: path).read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT instance FROM cumulative_series JOIN resource ON resource.id = resource_id ORDER BY instance
                    """)
        }
        #expect(kept == ["b", "b", "c", "c"])
    }

    @Test func newProcessWaitsWhileNoneIsSilentAndKnownOnesCountExactly() async throws {
        let clock = Clock()
        clock.time = Samples.time(10)
        var limits = SQLiteLimits()
        limits.maxCumulativeSeries = 2
        let storage = try SQLiteStorage(path: folder.path("small.sqlite"), limits: limits, now: { clock.time })
        for (round, end) in ([10, 20, 30] as [UInt64]).enumerated() {
            clock.time = Samples.time(end)
            for instance in ["a", "b", "c"] {
                try await send(3 * (round + 1), end: end, instance: instance, to: storage)
            }
        }
        #expect(try await count(in: storage) == 18)
        #expect(try await storage.state().uncountedPoints == 3)
        for (service, senders) in [("shop", 1), ("another", 0)] {
            let filter = RequestFilter([.service: [service]])
            #expect(
                try await storage.account(in: TimeWindow(from: Samples.time(0), to: Samples.time(30)), filter)
                    .uncountedSenders == senders)
            #expect(
                try await storage.account(in: TimeWindow(from: Samples.time(30), to: Samples.time(60)), filter)
                    .uncountedSenders == 0)
        }
        // Two of them end. An hour later there is room for the third.
        clock.time = Samples.time(3700)
        try await send(12, end: 3700, instance: "c", to: storage)
        try await send(14, end: 3710, instance: "c", to: storage)
        #expect(try await count(in: storage) == 20)
    }
}
