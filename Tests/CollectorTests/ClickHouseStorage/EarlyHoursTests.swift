import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletClickHouseStorage

/// Hours that are made soon after they ended, and are read in place of their points.
@Suite(.enabled("a ClickHouse is installed") { TestedClickHouse.current != nil })
struct EarlyHoursTests {
    private let database: ClickHouseDatabase
    private let clock = Clock()

    init() async throws {
        database = try await ClickHouseDatabase(try #require(TestedClickHouse.current))
        clock.time = Samples.time(20_000)
    }

    private func collector(hourSettling: Double = 0) async throws -> ClickHouseStorage {
        try await database.open(hourSettling: hourSettling, now: { [clock] in clock.time })
    }

    /// Samples.time(2_800) is a full hour.
    private static func window(_ from: UInt64 = 0, _ to: UInt64 = 3600) -> TimeWindow {
        TimeWindow(from: Samples.time(2_800 + from), to: Samples.time(2_800 + to))
    }

    /// Stores a batch of two services that ends some seconds after the beginning of the hour.
    private func store(
        _ sequence: UInt64, at seconds: UInt64, in storage: ClickHouseStorage
    ) async throws -> StoreOutcome {
        let metrics = ["one", "two"].map { service in
            let points = (0..<3).map { endpoint in
                Samples.point(
                    Samples.dimensions(.client, endpoint: "/\(endpoint)"), [0.25, 0.5, Double(endpoint + 1)],
                    end: 2_800 + seconds)
            }
            return InstanceMetrics(resource: Samples.resource(service, instance: "i-\(service)"), points: points)
        }
        return try await storage.store(metrics, of: BatchID(instance: "i-one", sequence: sequence, signal: .metrics))
    }

    /// Returns the groups of a window without the time of the latest request, because an hour has the time of its end.
    private func groups(_ window: TimeWindow, step: UInt64? = nil, in storage: ClickHouseStorage) async throws
        -> [RequestGroup]
    {
        let answer = try await storage.statistics(
            StatisticsQuery(window: window, by: [.service, .endpoint], step: step.map { $0 * 1_000_000_000 }))
        return answer.groups.map { group in
            var group = group
            group.ends = nil
            return group
        }
    }

    private func requests(in groups: [RequestGroup]) -> UInt64 {
        groups.reduce(0) { $0 + $1.count }
    }

    /// Maintains the store until the completed hours are valid. On a busy machine, a pass may end before it has made one.
    private func makeHours(_ storage: ClickHouseStorage) async throws {
        for _ in 0..<50 {
            try await storage.maintain()
            if try await !EarlyHours.holding(in: Samples.everything, storage.client).isEmpty { return }
        }
    }

    private func deletePoints(_ storage: ClickHouseStorage) async throws {
        try await storage.client.removeRows(of: Schema.point)
    }

    @Test func completedHourIsReadInsteadOfItsPoints() async throws {
        let storage = try await collector()
        for sequence in 1...30 { _ = try await store(UInt64(sequence), at: UInt64(sequence) * 120, in: storage) }
        let before = try await groups(Self.window(), in: storage)
        try await makeHours(storage)
        try await deletePoints(storage)
        #expect(try await groups(Self.window(), in: storage) == before)
        #expect(requests(in: before) == 30 * 18)
        // A wider window contains the whole hour; a narrower one has only points.
        #expect(try await groups(Self.window(0, 9000), in: storage) == before)
        #expect(try await groups(Self.window(1, 3600), in: storage).isEmpty)
    }

    @Test func latePointsCountAtOnceAndTheirHourIsMadeAgain() async throws {
        let storages = [try await collector(), try await collector()]
        _ = try await store(1, at: 600, in: storages[0])
        try await storages[0].maintain()
        // The batch arrives through the other collector first, then a second time.
        #expect(try await store(2, at: 1200, in: storages[1]) == .stored)
        #expect(try await store(2, at: 1200, in: storages[0]) == .duplicate)
        let before = try await groups(Self.window(), in: storages[0])
        #expect(requests(in: before) == 2 * 18)
        for storage in storages { try await storage.maintain() }
        try await deletePoints(storages[0])
        #expect(try await groups(Self.window(), in: storages[1]) == before)
    }

    @Test func hourIsMadeOnlyWhenNoInsertCanBeOnItsWay() async throws {
        let storage = try await collector(hourSettling: 3600)
        _ = try await store(1, at: 600, in: storage)
        for _ in 0..<2 { try await storage.maintain() }
        #expect(try await EarlyHours.holding(in: Samples.everything, storage.client).isEmpty)
        // No collector makes the hour that has not ended.
        clock.time = Samples.time(2_800 + 3599)
        let other = try await collector()
        try await other.maintain()
        #expect(try await EarlyHours.holding(in: Samples.everything, storage.client).isEmpty)
        clock.time = Samples.time(2_800 + 3600)
        try await other.maintain()
        #expect(try await EarlyHours.holding(in: Samples.everything, storage.client).count == 1)
    }

    @Test func hourOfManyPointsIsMadeInParts() async throws {
        let storage = try await collector()
        for sequence in 1...4 { _ = try await store(UInt64(sequence), at: UInt64(sequence) * 900, in: storage) }
        let hour = Int64(Samples.time(2_800)) / StoredHour.length
        let tables = HourSource.points.tables
        let parts = try await HourParts.conditions(of: hour, in: tables, maxPoints: 5, storage.client)
        var counts: [Int] = []
        for part in parts { counts.append(try await storage.client.count("FROM point WHERE \(part)")) }
        // Two services of three series, each with four points. A series is in one part.
        #expect(counts.reduce(0, +) == 24 && parts.count == 4)
        #expect(counts.allSatisfy { $0 % 4 == 0 && $0 <= 12 })
        #expect(try await HourParts.conditions(of: hour + 1, in: tables, maxPoints: 5, storage.client).isEmpty)
    }

    @Test func processesOfAVersionShareTheRowsOfAnHour() async throws {
        let storage = try await collector()
        for (instance, version) in [("a", "1"), ("b", "1"), ("c", "2")] {
            var resource = Samples.resource(instance: instance)
            resource.version = version
            for end in [10, 20] as [UInt64] {
                let metrics = Samples.metrics(requests: 3, end: 2_800 + end, resource: resource)
                _ = try await storage.store([metrics], of: nil)
            }
        }
        let query = StatisticsQuery(window: Self.window(), by: [.version])
        let before = try await storage.statistics(query).byValues.mapValues(\.duration)
        try await makeHours(storage)
        try await deletePoints(storage)
        #expect(try await storage.statistics(query).byValues.mapValues(\.duration) == before)
        #expect(before.mapValues(\.count) == [["1"]: 12, ["2"]: 6])
        #expect(try await storage.client.count("FROM version_hour FINAL") == 2)
    }

    /// Instances are known for six hours.
    @Test(arguments: [nil, 2])
    func requestsByInstanceAreReadFromPointsForAsLongAsInstancesAreKnown(limit: Int?) async throws {
        let storage = try await collector()
        for sequence in 1...4 { _ = try await store(UInt64(sequence), at: UInt64(sequence) * 900, in: storage) }
        try await makeHours(storage)
        let query = StatisticsQuery(
            window: Self.window(0, 9000), by: [.instance], limit: limit, step: 3_600_000_000_000)
        let known = try await storage.statistics(query)
        #expect(known.groups.map { $0.values[0] } == ["i-one", "i-two"] && known.sendersSince == nil)
        clock.time = Samples.time(2_800 + 7 * 3600)
        let later = try await storage.statistics(query)
        #expect(later.groups.map { $0.values[0] } == [nil] && later.groups[0].count == 72)
        #expect(later.slots?.groups.first?.map(\.count).reduce(0, +) == 72)
        #expect(later.sendersSince == Samples.time(2_800 + 3600))
        // So it is for requests that are read from points, because they came late or slots are short.
        _ = try await store(5, at: 3000, in: storage)
        for step in [3600, 900] as [UInt64] {
            var query = query
            query.step = step * 1_000_000_000
            let again = try await storage.statistics(query)
            #expect(again.groups.map { $0.values[0] } == [nil] && again.groups[0].count == 90)
            #expect(again.slots?.groups.first?.map(\.count).reduce(0, +) == 90)
            #expect(again.sendersSince == later.sendersSince)
        }
        var filtered = query
        (filtered.by, filtered.filter) = ([], RequestFilter([.instance: ["i-one"]]))
        let ofOne = try await storage.statistics(filtered)
        #expect(ofOne.groups.isEmpty && ofOne.sendersSince == later.sendersSince)
    }

    /// A built hour has the first and the last reading of each sender.
    @Test func accountsStayTheSameOnceHoursHaveBeenBuilt() async throws {
        let storage = try await collector()
        var random = SeededGenerator(seed: 54)
        for number in 0..<5 {
            var (ledger, requests, end) = (LedgerReading(time: 0), 0, UInt64(number * 1900))
            while end < 4 * 3600, end < 5000 + UInt64(number) * 3000 {
                end += UInt64.random(in: 1...1500, using: &random)
                (requests, ledger.time) = (Int.random(in: 0...5, using: &random), Samples.time(end))
                ledger.captured += UInt64(requests + Int.random(in: 0...1, using: &random))
                ledger.age = (end - UInt64(number * 1900)) * 1_000_000_000
                ledger.unwatched += UInt64.random(in: 0...500_000_000, using: &random)
                var metrics = Samples.metrics(
                    requests: requests, end: end, resource: Samples.resource("s-\(number % 2)", instance: "i-\(number)")
                )
                metrics.ledger = ledger
                _ = try await storage.store([metrics], of: nil)
            }
        }
        let whole = [(0, 1), (0, 4), (1, 2), (1, 3), (3, 4)].map { Self.window($0 * 3600, $1 * 3600) }
        let windows =
            (0..<20).map { _ in
                let edges = (0..<2).map { _ in Samples.time(.random(in: 1...17_000, using: &random)) }.sorted()
                return TimeWindow(from: edges[0], to: edges[1])
            } + [Samples.everything]
        func accounts(_ windows: [TimeWindow]) async throws -> [WindowAccount] {
            var found: [WindowAccount] = []
            for window in windows { found.append(try await storage.account(in: window, RequestFilter())) }
            return found
        }
        let (before, agents) = (try await accounts(whole + windows), try await storage.agents())
        try await makeHours(storage)
        let (first, last) = (UInt32(hourOf: Int64(Samples.time(0))), UInt32(hourOf: Int64(Samples.time(17_200))))
        let source = try await LedgerSource(from: first, through: last, storage.client)
        #expect(!source.rows(where: "1").contains("FROM ledger "))
        #expect(try await accounts(whole + windows) == before)
        #expect(try await storage.agents() == agents)
        // Two months later only hours are left.
        for _ in 0..<4 {
            clock.time += 15 * 86_400 * 1_000_000_000
            try await storage.maintain()
        }
        #expect(try await storage.client.count("FROM ledger") == 0)
        #expect(try await accounts(whole) == Array(before.prefix(whole.count)))
    }

    @Test func differencesCountOnceWhileTheWeekOfTheirHourIsRolledUp() async throws {
        let storage = try await collector()
        _ = try await store(1, at: 600, in: storage)
        let columns = Schema.point.columnList
        let ofAnother = columns.replacing(" sender,", with: " sender + 1,")
        try await storage.client.run(
            "INSERT INTO difference (\(columns), revision) SELECT \(ofAnother), toUInt64(1) FROM point")
        try await storage.maintain()
        let before = try await groups(Self.window(), in: storage)
        #expect(requests(in: before) == 2 * 18)
        clock.time = Samples.time(20_000 + 34 * 86_400)
        let hour = Int64(Samples.time(2_800)) / StoredHour.length
        let rows = PointSource.pointRows(columns, where: "hour = \(hour)", spansOf: [], from: 0, to: 0)
        try await storage.client.run(HourStatement.sql(of: hour, rows: rows.joined(separator: " UNION ALL ")))
        #expect(try await groups(Self.window(), in: storage) == before)
    }

    @Test func slotsWithinAnHourAreReadFromPoints() async throws {
        let storage = try await collector()
        for sequence in 1...4 { _ = try await store(UInt64(sequence), at: UInt64(sequence) * 900, in: storage) }
        let query = StatisticsQuery(window: Self.window(), by: [], step: 900_000_000_000)
        let before = try await storage.statistics(query)
        try await storage.maintain()
        #expect(try await EarlyHours.holding(in: Self.window(), storage.client).count == 1)
        #expect(try await storage.statistics(query) == before)
        #expect(before.slots?.groups.count == 1)
    }

    @Test func spansOfOneProcessCountTogetherWithMetricsOfOthers() async throws {
        let storage = try await collector()
        _ = try await store(1, at: 600, in: storage)
        var (span, resource) = (Samples.detail(1), Samples.resource("three", instance: "i-three"))
        (span.start, resource.agent) = (Samples.time(2_800 + 700), nil)
        _ = try await storage.store([DetailsBatch(resource: resource, details: [span])], of: nil)
        let before = try await groups(Self.window(), in: storage)
        try await storage.maintain()
        #expect(try await groups(Self.window(), in: storage) == before)
        #expect(requests(in: before) == 18 + 1)
    }
}
