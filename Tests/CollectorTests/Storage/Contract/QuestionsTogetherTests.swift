import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    @Suite struct QuestionsTogetherTests {
        private let folder: TemporaryFolder
        private let storage: any Storage
        private let clock = Clock()

        init() async throws {
            folder = try TemporaryFolder()
            clock.time = Samples.time(Self.start)
            storage = try await StorageContractTests.makeStore(in: folder, now: { [clock] in clock.time })
        }

        /// Samples.time(40) is a full minute.
        private static let start: UInt64 = 40

        /// Stores an hour of two services in intervals of 10 s, a minute in each batch, and has it rolled up.
        private func storeAnHour() async throws {
            for minute in 0..<60 as Range<UInt64> {
                let points = (6 * minute..<6 * minute + 6).flatMap(Self.points)
                let metrics = ["checkout", "prices"].map { service in
                    InstanceMetrics(resource: Samples.resource(service), points: points)
                }
                _ = try await storage.store(metrics, of: nil)
            }
            clock.time = Samples.time(Self.start + 7200)
            try await storage.maintain()
        }

        private static func points(in interval: UInt64) -> [RequestPoint] {
            let end = start + 10 * (interval + 1)
            let times = Array(repeating: 0.125, count: requests(in: interval))
            return [
                Samples.point(Samples.dimensions(endpoint: "/\(interval % 3)"), times, end: end),
                Samples.point(Samples.dimensions(.server, status: 503), [0.5], end: end),
            ]
        }

        private static func requests(in interval: UInt64) -> Int { Int(interval * 7 % 5) + 1 }

        private func window(_ from: UInt64, _ to: UInt64) -> TimeWindow {
            TimeWindow(from: Samples.time(Self.start + from), to: Samples.time(Self.start + to))
        }

        @Test func queriesInOneCallHaveTheSameAnswersAsSeparateQueries() async throws {
            try await storeAnHour()
            let minute: UInt64 = 60_000_000_000
            var blocks = StatisticsQuery(window: window(10, 3310), by: [.endpoint], step: 6 * minute)
            blocks.slotEnd = blocks.window.to
            let failed = RequestFilter([.status: ["5xx"]])
            let queries = [
                StatisticsQuery(window: window(10, 3310), by: [.service, .kind], step: 2 * minute),
                StatisticsQuery(window: window(10, 3310), by: [.endpoint], limit: 1, step: 3 * minute), blocks,
                StatisticsQuery(window: window(10, 3310), filter: failed, by: []),
                StatisticsQuery(window: window(0, 3600), by: [.service]),
                StatisticsQuery(window: window(600, 1800), by: [.status], order: GroupOrder(.p95), limit: 2),
            ]
            let together = try await storage.statistics(queries)
            #expect(together.count == queries.count)
            for (query, answer) in zip(queries, together) {
                #expect(try await storage.statistics(query) == answer.get())
            }
        }

        @Test func queryWithTooManyGroupsDoesNotAffectOtherAnswers() async throws {
            _ = try await storage.store([Samples.metrics(requests: 3, end: 50)], of: nil)
            let one = StatisticsQuery(window: window(0, 100_000), by: [.endpoint])
            var many = one
            many.step = 1_000_000_000
            let answers = try await storage.statistics([many, one, many])
            #expect(try answers[1].get().groups.map(\.count) == [3])
            for index in [0, 2] { #expect(throws: TooManyGroups.self) { try answers[index].get() } }
        }

        /// Blocks of a comparison may end at any interval, but points are kept by the minute.
        @Test(arguments: [10, 30, 50] as [UInt64])
        func slotsThatBeginWithinAMinuteHaveOnlyTheirOwnPoints(shift: UInt64) async throws {
            try await storeAnHour()
            var query = StatisticsQuery(
                window: window(shift, shift + 3000), filter: RequestFilter([.kind: ["client"]]), by: [],
                step: 300_000_000_000)
            query.slotEnd = query.window.to
            let slots = try #require(try await storage.statistics(query).slots)
            let expected = (0..<10 as Range<UInt64>).map { slot in
                (0..<30 as Range<UInt64>).reduce(0 as UInt64) {
                    $0 + 2 * UInt64(Self.requests(in: shift / 10 + slot * 30 + $1))
                }
            }
            #expect(slots.groups.map { $0.map(\.count) } == [expected])
        }
    }
}
