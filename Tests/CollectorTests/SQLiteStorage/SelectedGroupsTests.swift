import Fixtures
import Foundation
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// Answers whose groups are known after a first pass: groups within a limit, and groups of other answers. Most groups are only
/// ordered, and have only the figures that order them.
@Suite struct SelectedGroupsTests {
    private let folder: TemporaryFolder
    private let storage: SQLiteStorage
    private let clock = Clock()

    /// Samples.time(40) is a full minute.
    private static let start: UInt64 = 40

    init() async throws {
        folder = try TemporaryFolder()
        clock.time = Samples.time(Self.start + 7_000)
        try await Self.hours.copy(to: folder.path("collector.sqlite"))
        storage = try SQLiteStorage(path: folder.path("collector.sqlite"), now: { [clock] in clock.time })
    }

    private static func storeRandomPoints(
        _ intervals: Range<UInt64>, in storage: SQLiteStorage, _ random: inout SeededGenerator
    ) async throws {
        let kinds: [RequestKind] = [.client, .server]
        for interval in intervals {
            let end = start + 10 * (interval + 1)
            for service in ["checkout", "prices"] {
                let points = (0..<12).map { _ in
                    let failed = Int.random(in: 0..<4, using: &random) == 0
                    let seconds = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                        pow(10, Double.random(in: -4...2, using: &random))
                    }
                    return Samples.point(
                        Samples.dimensions(
                            kinds[Int.random(in: kinds.indices, using: &random)],
                            endpoint: "/\(Int.random(in: 0..<40, using: &random))", status: failed ? 503 : 200,
                            error: failed ? "503" : nil), seconds, end: end)
                }
                let resource = Samples.resource(service)
                _ = try await storage.store([InstanceMetrics(resource: resource, points: points)], of: nil)
            }
        }
    }

    /// Two hours, mostly rolled up, with late points.
    private static let hours = FilledStore { path in
        let clock = Clock()
        clock.time = Samples.time(start)
        let storage = try SQLiteStorage(path: path, now: { clock.time })
        var random = SeededGenerator(seed: 7)
        try await storeRandomPoints(0..<700, in: storage, &random)
        clock.time = Samples.time(start + 7_000)
        try await storage.maintain()
        try await storeRandomPoints(50..<70, in: storage, &random)
        try await storeRandomPoints(380..<390, in: storage, &random)
        try storage.close()
    }

    private static let windows: [(UInt64, UInt64)] = [
        (0, 7_000), (10, 3_610), (1_800, 5_400), (1_830, 5_450), (600, 660), (635, 4_205), (3_560, 7_160),
    ]

    private static let filters = [
        RequestFilter(), RequestFilter([.kind: ["client"]]), RequestFilter([.service: ["prices"]]),
        RequestFilter([.status: ["5xx"]]), RequestFilter([.endpoint: ["/1", "/2", "/3"], .error: [""]]),
    ]

    private func queries(by dimensions: [MartletStorage.Dimension]) -> [StatisticsQuery] {
        Self.windows.flatMap { from, to in
            Self.filters.map { filter in
                StatisticsQuery(
                    window: TimeWindow(from: Samples.time(Self.start + from), to: Samples.time(Self.start + to)),
                    filter: filter, by: dimensions)
            }
        }
    }

    private static let orders: [GroupOrder] = [
        GroupOrder(), GroupOrder(.count, ascending: true), GroupOrder(.failures), GroupOrder(.failureRate),
        GroupOrder(.p95), GroupOrder(.max),
    ]

    @Test func limitChangesNeitherTheFirstGroupsNorTheTotals() async throws {
        for dimensions in [[.service, .endpoint], [.endpoint], [.endpoint, .status]] as [[MartletStorage.Dimension]] {
            for (number, query) in queries(by: dimensions).enumerated() {
                var query = query
                query.order = Self.orders[number % Self.orders.count]
                let all = try await storage.statistics(query)
                query.limit = 1 + number % 9
                let first = try await storage.statistics(query)
                #expect(first.groups == Array(all.groups.prefix(1 + number % 9)))
                #expect(first.groupCount == all.groupCount)
                expectSame(first.totals, all.totals)
                #expect(first.window == all.window)
            }
        }
    }

    /// A store that sums few groups at a time takes the first from several passes.
    @Test func firstGroupsAreTheSameIfFewFitIntoAnAnswer() async throws {
        try storage.close()
        var limits = SQLiteLimits()
        limits.maxGroups = 11
        let small = try SQLiteStorage(path: folder.path("collector.sqlite"), limits: limits) { [clock] in clock.time }
        for (number, query) in queries(by: [.service, .endpoint, .status]).enumerated() {
            var query = query
            query.order = Self.orders[number % Self.orders.count]
            query.limit = 1 + number % 9
            let first = try await small.statistics(query)
            let whole = try await unlimited(query)
            #expect(first.groups == whole.groups)
            #expect(first.groupCount == whole.groupCount)
            expectSame(first.totals, whole.totals)
        }
    }

    private func unlimited(_ query: StatisticsQuery) async throws -> StatisticsAnswer {
        try await SQLiteStorage(readingFrom: folder.path("collector.sqlite")).statistics(query)
    }

    @Test func limitedGroupsHaveTheSameSlotsAsWhenTheyAreNamed() async throws {
        for (number, query) in queries(by: [.service, .endpoint]).enumerated() {
            var query = query
            query.step = [60, 130, 600][number % 3] * 1_000_000_000
            query.slotEnd = number.isMultiple(of: 2) ? nil : query.window.to
            query.limit = 4
            let first = try await storage.statistics(query)
            query.limit = nil
            query.groups = .named(first.groups.map(\.values))
            let alone = try await storage.statistics(query)
            #expect(first.slots?.grid == alone.slots?.grid)
            let slots = Dictionary(uniqueKeysWithValues: zip(alone.groups.map(\.values), alone.slots?.groups ?? []))
            #expect(first.slots?.groups == first.groups.map { slots[$0.values] ?? [] })
        }
    }

    @Test func coarseSlotsDoNotChangeTheGroups() async throws {
        for (number, query) in queries(by: [.service, .endpoint]).prefix(8).enumerated() {
            var query = query
            query.step = 600_000_000_000
            query.limit = number.isMultiple(of: 2) ? 4 : nil
            let fine = try await storage.statistics(query)
            query.slotScale = 4
            let coarse = try await storage.statistics(query)
            #expect(coarse.groups.map(\.values) == fine.groups.map(\.values))
            for (one, other) in zip(coarse.groups, fine.groups) {
                #expect(one.count == other.count && one.quantiles([0.5, 0.95]) == other.quantiles([0.5, 0.95]))
            }
            for (one, other) in zip((coarse.slots?.groups ?? []).joined(), (fine.slots?.groups ?? []).joined()) {
                #expect(one.count == other.count)
                #expect(one.succeeded.duration.count == 0 || one.succeeded.duration.scale <= 4)
                guard let coarse = one.quantiles([0.95])[0], let fine = other.quantiles([0.95])[0] else { continue }
                #expect(abs(coarse / fine - 1) < 0.045)
            }
        }
    }

    @Test func queriesInOneCallHaveTheSameAnswers() async throws {
        var queries = Array(queries(by: [.service, .endpoint]).prefix(5))
        queries += queries.map { query in
            var limited = query
            (limited.limit, limited.step) = (3, 600_000_000_000)
            return limited
        }
        for (query, answer) in zip(queries, try await storage.statistics(queries)) {
            let (together, alone) = (try answer.get(), try await storage.statistics(query))
            #expect(together.groups.map(\.count) == alone.groups.map(\.count))
            for (one, other) in zip(together.groups, alone.groups) {
                #expect(one.quantiles([0.5, 0.95, 0.99]) == other.quantiles([0.5, 0.95, 0.99]))
            }
            #expect(together.slots?.groups.map { $0.map(\.count) } == alone.slots?.groups.map { $0.map(\.count) })
        }
    }

    @Test func groupsOfAnswersHaveTheFiguresOfTheSameGroupsByName() async throws {
        for (number, query) in queries(by: [.service, .endpoint]).enumerated() {
            var (first, other) = (query, query)
            (first.limit, first.hasFigures) = (3, false)
            (other.limit, other.window.from) = (2, query.window.to - 1_200_000_000_000)
            var selecting = query
            selecting.step = [nil, 60_000_000_000, 360_000_000_000][number % 3]
            selecting.groups = .ofAnswers([0, 1])
            var elsewhere = selecting
            elsewhere.window = Self.tenMinutes
            let answers = try await storage.statistics([first, other, selecting, elsewhere]).map { try $0.get() }
            let values = Set((answers[0].groups + answers[1].groups).map(\.values))
            #expect(values.isSuperset(of: answers[2].groups.map(\.values)))
            #expect(Set(answers[2].groups.map(\.values)).isSuperset(of: answers[0].groups.map(\.values)))
            for (query, answer) in [(selecting, answers[2]), (elsewhere, answers[3])] {
                var named = query
                named.groups = .named(Array(values))
                let alone = try await storage.statistics(named)
                #expect(answer.groups.map(\.values) == alone.groups.map(\.values))
                for (one, other) in zip(answer.groups, alone.groups) { expectSame([.client: one], [.client: other]) }
                #expect(answer.slots == alone.slots)
                #expect(answer.totals.mapValues(\.count) == alone.totals.mapValues(\.count))
                #expect(answer.account == alone.account)
            }
        }
    }

    private static let tenMinutes = TimeWindow(from: Samples.time(start + 1_000), to: Samples.time(start + 1_600))

    @Test func groupsWithoutFiguresHaveTheSameOrderAndTotals() async throws {
        for query in queries(by: [.service, .endpoint]) {
            for measure in [GroupOrder.Measure.impact, .count, .failures, .failureRate] {
                var query = query
                (query.limit, query.order.measure) = (5, measure)
                let whole = try await storage.statistics(query)
                query.hasFigures = false
                let ordered = try await storage.statistics(query)
                #expect(ordered.groups.map(\.values) == whole.groups.map(\.values))
                #expect(ordered.groupCount == whole.groupCount)
                for (one, other) in zip(ordered.groups, whole.groups) {
                    #expect((one.count, one.failedCount) == (other.count, other.failedCount))
                    #expect(abs(one.time - other.time) <= 1e-9 * other.time)
                }
                expectSame(ordered.totals, whole.totals)
            }
        }
    }

    /// Expects the same requests. Sums of seconds depend on the order of addition.
    private func expectSame(_ totals: [RequestKind: RequestGroup], _ others: [RequestKind: RequestGroup]) {
        #expect(totals.keys == others.keys)
        for (kind, total) in totals {
            guard let other = others[kind] else { continue }
            #expect(total.outcomes == other.outcomes && total.latestEnd == other.latestEnd)
            #expect((total.fromSpans, total.changed) == (other.fromSpans, other.changed))
            for (one, other) in [(total.succeeded, other.succeeded), (total.failed, other.failed)] {
                let (durations, others) = (one.duration, other.duration)
                #expect((durations.buckets, durations.offset) == (others.buckets, others.offset))
                #expect((durations.count, durations.zeroCount) == (others.count, others.zeroCount))
                #expect(durations.min == others.min && durations.max == others.max)
                #expect(abs(durations.sum - others.sum) <= 1e-9 * others.sum)
                #expect((one.bytesSent, one.bytesReceived) == (other.bytesSent, other.bytesReceived))
                for phase in RequestPhase.allCases {
                    #expect(one.phases[phase].count == other.phases[phase].count)
                    #expect(
                        abs(one.phases[phase].seconds - other.phases[phase].seconds)
                            <= 1e-9 * other.phases[phase].seconds)
                }
            }
        }
    }
}
