import Fixtures
import Foundation
import GRDB
import MartletReports
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

/// The minutes, hours and days of versions.
@Suite struct VersionTierTests {
    private let folder: TemporaryFolder
    private let clock = Clock()
    private let storage: SQLiteStorage

    /// A full minute.
    private static let start: UInt64 = 280

    init() throws {
        folder = try TemporaryFolder()
        clock.time = Samples.time(Self.start)
        var limits = SQLiteLimits()
        // A test sets the clock days ahead.
        limits.clockPatience = .max
        storage = try SQLiteStorage(
            path: folder.path("collector.sqlite"), limits: limits, now: { [clock] in clock.time })
    }

    private func storeRandomPoints(_ intervals: Range<UInt64>, _ random: inout SeededGenerator) async throws {
        for interval in intervals {
            let end = Self.start + 10 * (interval + 1)
            let senders = [
                ("checkout", "a", "1"), ("checkout", "b", "1"), ("checkout", "c", "2"), ("prices", "a", "1"),
            ].map { service, instance, version in
                var resource = Samples.resource(service, instance: instance)
                resource.version = version
                let points = (0..<6).map { _ in randomPoint(end: end, &random) }
                return InstanceMetrics(resource: resource, points: points)
            }
            _ = try await storage.store(senders, of: nil)
        }
    }

    private func randomPoint(end: UInt64, _ random: inout SeededGenerator) -> RequestPoint {
        let outcome = [(200, nil), (200, nil), (204, nil), (404, "404"), (503, "503")].randomElement(using: &random)
        let dimensions = Samples.dimensions(
            Bool.random(using: &random) ? .client : .server, endpoint: "/\(Int.random(in: 0..<5, using: &random))",
            status: outcome?.0, error: outcome?.1)
        let durations = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            pow(10, Double.random(in: -3...1, using: &random))
        }
        return Samples.point(dimensions, durations, end: end)
    }

    /// The last window contains a full hour.
    private static let windows: [(UInt64, UInt64)] = [
        (180, 3_780), (70, 3_675), (610, 790), (3_320, 4_500), (1_980, 6_300),
    ]

    private var queries: [StatisticsQuery] {
        let dimensions: [[MartletStorage.Dimension]] = [
            [.service, .kind], [.version, .endpoint], [.instance], [.status],
        ]
        let filters = [
            RequestFilter(), RequestFilter([.service: ["prices"]]), RequestFilter([.version: ["1"]]),
            RequestFilter([.endpoint: ["/1", "/2"]]), RequestFilter([.instance: ["a"]]),
            RequestFilter([.status: ["5xx"]]),
        ]
        let steps: [UInt64?] = [nil, 60, 180, 360, 9_000]
        return Self.windows.enumerated().flatMap { number, window in
            dimensions.flatMap { dimensions in
                filters.map { filter in
                    var query = StatisticsQuery(
                        window: TimeWindow(
                            from: Samples.time(Self.start + window.0), to: Samples.time(Self.start + window.1)),
                        filter: filter, by: dimensions,
                        step: steps[(number + dimensions.count + filter.wanted.count) % steps.count].map { $0 * second }
                    )
                    if number.isMultiple(of: 2) { query.limit = 3 }
                    if number > 2 { query.slotEnd = query.window.to - 25 * second }
                    return query
                }
            }
        }
    }

    private struct Figures: Equatable {
        var values: [String?]
        var counts: [UInt64]
        var maxima: [Double?]
        var quantiles: [Double?]

        init(_ group: RequestGroup) {
            values = group.values
            counts = [group.count, group.failedCount, group.statistics.bytesReceived, group.outcomes[.clientError]]
            maxima = [group.succeeded.duration.max, group.failed.duration.max]
            quantiles = group.quantiles([0.5, 0.95, 0.99])
        }
    }

    private func figures() async throws -> [[Figures]] {
        var all: [[Figures]] = []
        for query in queries {
            let answer = try await storage.statistics(query)
            #expect(answer.damagedPoints == 0)
            let names = answer.groups.map { $0.values.map { $0 ?? "" }.joined(separator: " ") }
            let order = answer.groups.indices.sorted { names[$0] < names[$1] }
            all.append(order.map { Figures(answer.groups[$0]) })
            if let slots = answer.slots { all += order.map { slots.groups[$0].map(Figures.init) } }
        }
        return all
    }

    // MARK: Answers

    @Test func answersAreTheSameBeforeAndAfterTheRollUp() async throws {
        var random = SeededGenerator(seed: 3)
        try await storeRandomPoints(0..<620, &random)
        // Some points are late: they belong to slots that have minutes of their version.
        for late in [50..<70, 60..<80] as [Range<UInt64>] {
            let found = try await figures()
            clock.time += 7_000 * second
            try await storage.maintain()
            #expect(try await figures() == found)
            try await storeRandomPoints(late, &random)
        }
        #expect(try await storage.rows("version_chunk WHERE tier = 1") > 200)
    }

    @Test func pointsThatAreAlwaysLateJoinTheirMinuteAndHour() async throws {
        for end in stride(from: Self.start + 10, through: Self.start + 7_200, by: 10) {
            clock.time = Samples.time(end + 300)
            _ = try await storage.store([Samples.metrics(end: end)], of: nil)
            try await storage.maintain()
        }
        // The first minutes of an hour may come when the hour before is done.
        #expect(try await storage.rows("version_chunk WHERE tier = 1") < 130)
        #expect(try await storage.rows("version_chunk WHERE tier = 2") == 2)
        let window = TimeWindow(from: Samples.time(Self.start), to: Samples.time(Self.start + 7_200))
        let answer = try await storage.statistics(StatisticsQuery(window: window, by: [.service]))
        #expect(answer.groups.map(\.count) == [720])
    }

    @Test func minuteHasOnePointForAllProcessesOfAVersion() async throws {
        for instance in ["a", "b", "c", "d"] {
            for end in stride(from: Self.start + 10, through: Self.start + 60, by: 10) {
                let points = [Samples.point(Samples.dimensions(), [0.1], end: end)]
                let resource = Samples.resource(instance: instance)
                _ = try await storage.store([InstanceMetrics(resource: resource, points: points)], of: nil)
            }
        }
        clock.time = Samples.time(Self.start + 60 + 59)
        try await storage.maintain()
        #expect(try await storage.rows("version_chunk") == 0)
        clock.time += 2 * second
        try await storage.maintain()
        let counts = try await storage.pool.read { try Int.fetchAll($0, sql: "SELECT count FROM version_chunk") }
        #expect(counts == [1])
    }

    @Test func damagedMinuteIsReported() async throws {
        _ = try await storage.store([Samples.metrics(requests: 2, end: Self.start + 10)], of: nil)
        clock.time = Samples.time(Self.start + 600)
        try await storage.maintain()
        try await storage.pool.write { try $0.execute(sql: "UPDATE version_chunk SET points = x'00'") }
        let window = TimeWindow(from: Samples.time(Self.start), to: Samples.time(Self.start + 180))
        let answer = try await storage.statistics(StatisticsQuery(window: window, by: [.service]))
        #expect(answer.damagedPoints == 1)
        // The points of 10 s are unchanged.
        let byInstance = try await storage.statistics(StatisticsQuery(window: window, by: [.instance]))
        #expect(byInstance.damagedPoints == 0)
        #expect(byInstance.groups.map(\.count) == [2])
    }

    /// Later metrics decide whether requests from spans count.
    @Test func requestsReportedOnlyBySpansStayWithTheirSender() async throws {
        let resource = TelemetryResource(service: "prices", instance: "", agent: "opentelemetry 1.38")
        var span = Samples.detail(1)
        span.start = Samples.time(Self.start + 5)
        _ = try await storage.store([DetailsBatch(resource: resource, details: [span])], of: nil)
        _ = try await storage.store([Samples.metrics(requests: 2, end: Self.start + 10)], of: nil)
        clock.time = Samples.time(Self.start + 600)
        try await storage.maintain()
        let window = TimeWindow(from: Samples.time(Self.start), to: Samples.time(Self.start + 180))
        func count() async throws -> UInt64 {
            try await storage.statistics(StatisticsQuery(window: window, by: [])).groups.reduce(0) { $0 + $1.count }
        }
        #expect(try await storage.rows("version_chunk") == 1)
        #expect(try await count() == 3)
        let point = RequestPoint(
            dimensions: Samples.dimensions(), start: Samples.time(Self.start), end: Samples.time(Self.start + 120),
            statistics: Samples.statistics([0.25, 0.25, 0.25, 0.25]))
        _ = try await storage.store([InstanceMetrics(resource: resource, points: [point])], of: nil)
        #expect(try await count() == 6)
        try await storage.maintain()
        #expect(try await count() == 6)
    }

    // MARK: Days

    /// The start of a day in UTC.
    private static let midnight: UInt64 = 35_200
    private static let hour: UInt64 = 3_600
    private static let day: UInt64 = 24 * hour

    /// Stores points of two versions for each of some hours after the start.
    private func storeHours(_ hours: some Sequence<UInt64>, _ random: inout SeededGenerator) async throws {
        for hour in hours {
            let senders = ["1", "2"].map { version in
                var resource = Samples.resource(instance: version)
                resource.version = version
                let durations = (0...Int.random(in: 0...3, using: &random)).map { _ in
                    Double(Int.random(in: 1...10_240, using: &random)) / 1024
                }
                let dimensions = Samples.dimensions(endpoint: "/\(Int.random(in: 0..<3, using: &random))")
                let end = Self.midnight + hour * Self.hour + 10
                return InstanceMetrics(resource: resource, points: [Samples.point(dimensions, durations, end: end)])
            }
            _ = try await storage.store(senders, of: nil)
        }
    }

    private func setClock(toDay day: UInt64) async throws {
        clock.time = Samples.time(Self.midnight + day * Self.day)
        try await storage.maintain()
    }

    /// The answers for windows that begin and end with an hour, whole and in slots.
    private func answersOfDays() async throws -> [StatisticsAnswer] {
        var all: [StatisticsAnswer] = []
        for (from, to) in [(0, 240), (24, 72), (25, 71), (5, 200), (30, 40), (47, 49), (0, 24)] as [(UInt64, UInt64)] {
            for step in [nil, 6, 24, 48] as [UInt64?] {
                let window = TimeWindow(
                    from: Samples.time(Self.midnight + from * Self.hour),
                    to: Samples.time(Self.midnight + to * Self.hour))
                let query = StatisticsQuery(
                    window: window, by: [.version, .endpoint], step: step.map { $0 * Self.hour * 1_000_000_000 })
                all.append(try await storage.statistics(query))
            }
        }
        return all
    }

    private static func statistics(_ answers: [StatisticsAnswer]) -> [[[String?]: [RequestStatistics]]] {
        answers.map { answer in
            let slots = answer.slots.map { $0.groups.map { $0.map(\.statistics) } }
            let groups = answer.groups.enumerated().map { ($1.values, [$1.statistics] + (slots?[$0] ?? [])) }
            return Dictionary(uniqueKeysWithValues: groups)
        }
    }

    @Test func daysGiveTheAnswersOfTheirHours() async throws {
        var random = SeededGenerator(seed: 7)
        try await storeHours(0..<240, &random)
        // A process may be silent for seven days; until then an hour gets its requests.
        for (day, late) in [(11, [10, 50, 51, 100]), (12, [])] as [(UInt64, [UInt64])] {
            let before = try await answersOfDays()
            try await setClock(toDay: day)
            let after = try await answersOfDays()
            #expect(Self.statistics(after) == Self.statistics(before))
            #expect(after.map(\.window) == before.map(\.window))
            #expect(try await storage.rows("version_chunk WHERE tier = 3") == Int(2 * (day - 7)))
            #expect(try await storage.rows("version_chunk WHERE tier = 2 AND rolled = 1") >= Int(2 * (day - 7) * 24))
            try await storeHours(late, &random)
        }
    }

    @Test func daysAreRead() async throws {
        var random = SeededGenerator(seed: 8)
        try await storeHours(0..<240, &random)
        try await setClock(toDay: 11)
        try await storage.pool.write { try $0.execute(sql: "UPDATE version_chunk SET points = x'00' WHERE tier = 3") }
        let damaged = try await answersOfDays().map { $0.damagedPoints > 0 }
        let (whole, inSlotsOfHours) = (true, false)
        let isOfDays = [whole, inSlotsOfHours, whole, whole]
        #expect(Array(damaged[..<4]) == isOfDays)
        #expect(Array(damaged[16..<20]) == [false, false, false, false])
    }

    @Test func hoursGoWithTheirDay() async throws {
        var random = SeededGenerator(seed: 9)
        try await storeHours(0..<240, &random)
        try await setClock(toDay: 11)
        clock.time = Samples.time(Self.midnight + 401 * Self.day + 12 * Self.hour)
        try await storage.maintain()
        #expect(try await storage.rows("version_chunk WHERE tier = 3") == 2 * 9)
        #expect(try await storage.rows("version_chunk WHERE tier = 2") == 2 * 9 * 24)
    }

    @Test func storeThatIsTooLargeGivesUpWholeDays() async throws {
        var random = SeededGenerator(seed: 10)
        try await storeHours(0..<240, &random)
        try await setClock(toDay: 15)
        try storage.close()
        var limits = SQLiteLimits()
        limits.maxStoreBytes = 1
        let smaller = try SQLiteStorage(
            path: folder.path("collector.sqlite"), limits: limits, now: { [clock] in clock.time })
        try await smaller.maintain()
        // Eight days stay: one of them is made already.
        #expect(try await smaller.rows("version_chunk WHERE tier = 3") == 2 * 1)
        #expect(try await smaller.rows("version_chunk WHERE tier = 2") == 2 * 3 * 24)
    }

    // MARK: Instances

    @Test func instancesAreKnownForAsLongAsPointsOfTenSeconds() async throws {
        for instance in ["a", "b"] {
            for end in [10, 7_200] as [UInt64] {
                let resource = Samples.resource(instance: instance)
                _ = try await storage.store([Samples.metrics(end: Self.start + end, resource: resource)], of: nil)
            }
        }
        clock.time = Samples.time(Self.start + 7 * 3_600)
        try await storage.maintain()
        let window = TimeWindow(from: Samples.time(Self.start), to: clock.time)
        var query = StatisticsQuery(window: window, by: [.instance])
        let answer = try await storage.statistics(query)
        #expect(answer.byValues.mapValues(\.duration.count) == [[nil]: 2, ["a"]: 1, ["b"]: 1])
        #expect(answer.sendersSince == Samples.time(Self.start + 3_600))
        query.filter.select(.instance, "a")
        #expect(try await storage.statistics(query).byValues.mapValues(\.duration.count) == [["a"]: 1])
        let late = TimeWindow(from: Samples.time(Self.start + 3_600), to: clock.time)
        #expect(try await storage.statistics(StatisticsQuery(window: late, by: [.instance])).sendersSince == nil)
        #expect(try await storage.statistics(StatisticsQuery(window: window, by: [.version])).sendersSince == nil)
    }
}

private let second: UInt64 = 1_000_000_000
