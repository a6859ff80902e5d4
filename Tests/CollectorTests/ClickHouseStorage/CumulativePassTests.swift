import Fixtures
import MartletOTLP
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletClickHouseStorage

/// Cumulative metrics whose points arrive through several collectors.
@Suite(.enabled("a ClickHouse is installed") { TestedClickHouse.current != nil })
struct CumulativePassTests {
    private let database: ClickHouseDatabase
    private let folder: TemporaryFolder

    init() async throws {
        database = try await ClickHouseDatabase(try #require(TestedClickHouse.current))
        folder = try TemporaryFolder()
    }

    private func collector(_ clock: Clock) async throws -> ClickHouseStorage {
        try await database.open(now: { clock.time })
    }

    private static func clock(_ seconds: UInt64) -> Clock {
        let clock = Clock()
        clock.time = Samples.time(seconds)
        return clock
    }

    private func send(_ count: Int, end: UInt64, to storage: any Storage) async throws {
        let point = OtherMetrics.point(Array(repeating: 0.25, count: count), end: end)
        try await OtherMetrics.send([OtherMetrics.histogram([point])], instance: "a", to: storage)
    }

    /// Returns the number of requests in each ten seconds from the start.
    private func counts(_ storage: any Storage) async throws -> [UInt64] {
        var counts: [UInt64] = []
        for from in [0, 10, 20] as [UInt64] {
            let window = TimeWindow(from: Samples.time(from), to: Samples.time(from + 10))
            let answer = try await storage.statistics(StatisticsQuery(window: window, by: []))
            counts.append(answer.groups.reduce(0) { $0 + $1.count })
        }
        return counts
    }

    @Test func pointBetweenTwoCountedOnesTakesItsShareOfTheLater() async throws {
        let (clock, slow) = (Self.clock(1000), Self.clock(1005))
        let (one, other) = (try await collector(clock), try await collector(slow))
        try await send(2, end: 10, to: one)
        clock.time = Samples.time(1010)
        try await send(9, end: 30, to: one)
        try await one.maintain()
        #expect(try await counts(one) == [2, 0, 7])
        // The clock of this point's collector is behind.
        try await send(5, end: 20, to: other)
        try await other.maintain()
        #expect(try await counts(one) == [2, 3, 4])
    }

    @Test func passThatSawMorePointsWinsWithinOneSecond() async throws {
        let (clock, slow) = (Self.clock(1000), Self.clock(1005))
        let (one, other) = (try await collector(clock), try await collector(slow))
        try await send(2, end: 10, to: one)
        clock.time = Samples.time(1010)
        try await send(9, end: 30, to: one)
        var early = try #require(try await CumulativePass(since: 0, until: .max, ClickHouseLimits(), one.client))
        let rows = try await early.count().differences
        try await send(5, end: 20, to: other)
        clock.time = Samples.time(1020)
        try await one.maintain()
        #expect(try await counts(one) == [2, 3, 4])
        // The pass that began before the last point arrived ends last.
        for rows in rows { try await one.client.insert(rows) }
        #expect(try await counts(one) == [2, 3, 4])
    }

    @Test func nextPassCountsPointsThatWaitedForHours() async throws {
        let clock = Self.clock(1000)
        let storage = try await collector(clock)
        try await send(2, end: 10, to: storage)
        try await storage.maintain()
        clock.time = Samples.time(1010)
        try await send(5, end: 20, to: storage)
        clock.time = Samples.time(1010 + 5 * 3600)
        try await storage.maintain()
        #expect(try await counts(storage) == [2, 3, 0])
    }

    @Test func differenceIsWithdrawnWhenALaterPointReplacesIt() async throws {
        let (clock, slow) = (Self.clock(1000), Self.clock(1005))
        let (one, other) = (try await collector(clock), try await collector(slow))
        try await send(2, end: 10, to: one)
        clock.time = Samples.time(1010)
        try await send(5, end: 20, to: one)
        try await one.maintain()
        #expect(try await counts(one) == [2, 3, 0])
        try await send(9, end: 30, to: other)
        try await other.maintain()
        #expect(try await counts(one) == [2, 0, 7])
        clock.time = Samples.time(1020)
        try await send(10, end: 30, to: one)
        try await one.maintain()
        #expect(try await counts(one) == [2, 0, 7])
    }

    @Test func interruptedPassIsRepeatedWithTheSameRows() async throws {
        let clock = Self.clock(1000)
        let collectors = [try await collector(clock), try await collector(clock)]
        for (index, count) in [2, 5, 5].enumerated() {
            clock.time += 1_000_000
            try await send(count, end: UInt64(index + 1) * 10, to: collectors[index % 2])
        }
        let client = collectors[0].client
        var pass = try #require(try await CumulativePass(since: 0, until: .max, ClickHouseLimits(), client))
        for rows in try await pass.count().differences { try await client.insert(rows) }
        for one in collectors {
            #expect(try await counts(one) == [2, 3, 0])
            try await one.maintain()
        }
        #expect(try await counts(collectors[0]) == [2, 3, 0])
        #expect(try await client.count("FROM difference FINAL") == 2)
        let open = try await CumulativePass(since: 0, until: .max, ClickHouseLimits(), client)
        #expect(open == nil)
    }

    @Test func pointsCountOnceTheyHaveSettled() async throws {
        let clock = Self.clock(1000)
        var limits = ClickHouseLimits()
        limits.insertPause = 0
        let storage = try await ClickHouseStorage(
            at: database.location, ClickHouseCredentials([:]), limits: limits, now: { clock.time })
        try await send(2, end: 10, to: storage)
        try await storage.maintain()
        #expect(try await counts(storage) == [0, 0, 0])
        clock.time += limits.cumulativeSettling
        try await storage.maintain()
        #expect(try await counts(storage) == [2, 0, 0])
    }

    @Test func countsOfASilentStreamAreFoundAfterDays() async throws {
        let clock = Self.clock(1000)
        let storage = try await collector(clock)
        try await send(2, end: 10, to: storage)
        try await storage.maintain()
        clock.time = Samples.time(6 * 86_400)
        try await send(5, end: 20, to: storage)
        try await storage.maintain()
        #expect(try await counts(storage) == [2, 3, 0])
        clock.time = Samples.time(15 * 86_400)
        try await storage.maintain()
        #expect(try await storage.client.count("FROM cumulative") == 0)
    }

    @Test func requestsOfAnAgentThatSendsSumsCountAsArrived() async throws {
        let clock = Self.clock(1000)
        let storage = try await collector(clock)
        let stream = StreamID(hashing: [[1]])
        for round in 1...3 as ClosedRange<UInt64> {
            let point = RequestPoint(
                dimensions: Samples.dimensions(), start: Samples.time(0), end: Samples.time(round * 10),
                statistics: Samples.statistics(Array(repeating: 0.25, count: Int(round) * 4)))
            let metrics = InstanceMetrics(
                resource: Samples.resource(), points: [], cumulative: [CumulativePoint(stream: stream, point: point)],
                ledger: LedgerReading(time: Samples.time(round * 10), captured: round * 4, waiting: 4, age: round * 10))
            clock.time += 1_000_000
            let id = BatchID(instance: "i-1", sequence: round, signal: .metrics)
            #expect(try await storage.store([metrics], of: id) == .stored)
            #expect(try await storage.store([metrics], of: id) == .duplicate)
        }
        try await storage.maintain()
        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: []))
        #expect(answer.groups.map(\.count) == [12])
        #expect(answer.account.completeness == 1)
    }

    /// The streams of three processes, one of which restarts. Durations are multiples of 1/1024 s, so sums are exact in any order.
    private struct Streams {
        var random = SeededGenerator(seed: 23)
        private var values: [[[Double]]] = Array(repeating: Array(repeating: [], count: 3), count: 3)
        private var starts: [UInt64] = [0, 1, 2]

        mutating func next(_ round: UInt64) -> [(process: Int, metric: OTLPMetric)] {
            (0..<3).compactMap { process in
                if process == 2, round == 15 {
                    starts[process] = 145
                    values[process] = Array(repeating: [], count: 3)
                }
                guard Int.random(in: 0..<4, using: &random) > 0 else { return nil }
                let points = (0..<3).filter { round > UInt64(3 * $0) }.map { endpoint in
                    for _ in 0..<Int.random(in: 0...4, using: &random) {
                        values[process][endpoint].append(Double(Int.random(in: 1...4096, using: &random)) / 1024)
                    }
                    let attributes = [
                        OTLPKeyValue("http.request.method", "GET"), OTLPKeyValue("http.route", "/\(endpoint)"),
                        OTLPKeyValue("http.response.status_code", Int64(200)),
                    ]
                    return OtherMetrics.point(
                        values[process][endpoint], start: starts[process], end: round * 10, attributes: attributes)
                }
                return (process, OtherMetrics.histogram(points))
            }
        }
    }

    @Test func answersEqualThoseOfAFileWhicheverCollectorPointsCameThrough() async throws {
        let clock = Self.clock(1000)
        let sqlite = try SQLiteStorage(path: folder.path("collector.sqlite"), now: { clock.time })
        let collectors = [try await collector(clock), try await collector(clock)]
        var streams = Streams()
        for round in 1...30 as ClosedRange<UInt64> {
            for (process, metric) in streams.next(round) {
                try await OtherMetrics.send([metric], instance: "i-\(process)", to: sqlite)
                // Some points are sent twice, through both collectors.
                let first = Int.random(in: 0...1, using: &streams.random)
                for index in Int.random(in: 0..<3, using: &streams.random) == 0 ? [first, 1 - first] : [first] {
                    clock.time += 1_000_000
                    try await OtherMetrics.send([metric], instance: "i-\(process)", to: collectors[index])
                }
            }
            if round % 4 == 0 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for one in collectors { group.addTask { try await one.maintain() } }
                    try await group.waitForAll()
                }
            }
        }
        try await collectors[0].maintain()
        for window in [(0, 300), (50, 155), (140, 300)] as [(UInt64, UInt64)] {
            let query = StatisticsQuery(
                window: TimeWindow(from: Samples.time(window.0), to: Samples.time(window.1)),
                by: [.service, .instance, .endpoint])
            #expect(try await sqlite.statistics(query) == collectors[1].statistics(query))
        }
        let values = ValuesQuery(.endpoint, window: Samples.everything, limit: 10)
        #expect(try await sqlite.values(values) == collectors[1].values(values))
    }
}
