import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletClickHouseStorage

/// The hours of a Martlet whose hours belonged to processes.
@Suite(.enabled("a ClickHouse is installed") { TestedClickHouse.current != nil })
struct OlderHoursTests {
    private let database: ClickHouseDatabase
    private let clock = Clock()

    /// Samples.time(2_800) is a full hour.
    private static let start: UInt64 = 2_800
    /// The start of an hour whose points are still there, 33 days later.
    private static let recent: UInt64 = start + 33 * 86_400

    init() async throws {
        database = try await ClickHouseDatabase(try #require(TestedClickHouse.current))
        clock.time = Samples.time(Self.start + 4000)
    }

    private func collector() async throws -> ClickHouseStorage {
        try await database.open(now: { [clock] in clock.time })
    }

    /// Stores points of two versions of a service, each of three processes.
    private func store(at time: UInt64, in storage: ClickHouseStorage) async throws {
        for number in 0..<6 {
            var resource = Samples.resource(instance: "i-\(number)")
            resource.version = "\(number % 2)"
            for end in [600, 1200, 3600] as [UInt64] {
                // Sums of these durations do not depend on their order.
                let point = Samples.point(Samples.dimensions(), [0.25, Double(number + 1)], end: time + end)
                let metrics = InstanceMetrics(resource: resource, points: [point])
                _ = try await storage.store([metrics], of: nil)
            }
        }
    }

    /// Builds the hours of all points as the older Martlet did.
    private func buildOlderHours(_ client: ClickHouseClient) async throws {
        let dimensions = Selection(Dimension.ofPoint.columns.map(\.name) + ["outcome"])
        let columns =
            ["hour": "hour", "service": "service", "series": "series", "end_ns": "(toInt64(hour) + 1) * 3600000000000"]
            + ["sender": "sender", "batch": "toFixedString('', 16)", "start_ns": "toInt64(hour) * 3600000000000"]
            + ["ordinal": "toUInt32(scale + 20)", "points": "sum(points)"] + dimensions + StatisticsRow.sums
        try await client.run(
            """
            \(columns.insert(into: Schema.hour)) FROM point FINAL \
            GROUP BY hour, service, series, sender, scale, \(dimensions.list)
            """)
    }

    private func answers(_ storage: ClickHouseStorage) async throws -> [[[String?]: RequestStatistics]] {
        let windows = [(Self.start, Self.start + 3600), (Self.recent, Self.recent + 3600), (0, Self.recent + 9000)]
        return try await storage.statistics(
            windows.map { from, to in
                StatisticsQuery(
                    window: TimeWindow(from: Samples.time(from), to: Samples.time(to)), by: [.service, .version])
            }
        ).map { try $0.get().byValues }
    }

    @Test func hoursOfProcessesAnswerUntilTheyHaveBecomeHoursOfVersions() async throws {
        let older = try await collector()
        try await store(at: Self.start, in: older)
        clock.time = Samples.time(Self.recent + 4000)
        try await store(at: Self.recent, in: older)
        let before = try await answers(older)
        #expect(before.map { $0.values.reduce(0) { $0 + $1.requests } } == [36, 36, 72])
        try await buildOlderHours(older.client)
        // The older Martlet has rolled up the first week and dropped its points.
        let (client, length) = (older.client, Schema.hoursOfPart)
        let until = (Int64(Samples.time(Self.start)) / StoredHour.length / length + 1) * length
        try await client.run("INSERT INTO rolled (until) VALUES (\(until))")
        for part in try await client.parts(of: Schema.point) where (part + 1) * length <= until {
            try await client.drop(part, of: Schema.point)
        }
        #expect(try await answers(older) == before)
        // Its last hours may not have reached all replicas yet.
        let waiting = try await database.open(hourSettling: 3600, now: { [clock] in clock.time })
        for _ in 0..<2 { try await waiting.maintain() }
        #expect(try await client.count("FROM version_hour") == 0)
        let storage = try await collector()
        for _ in 0..<50 {
            try await storage.maintain()
            if try await client.rolledHours().ofVersions >= until { break }
        }
        try await storage.maintain()
        #expect(try await answers(storage) == before)
        #expect(try await client.count("FROM version_hour FINAL WHERE hour < \(until)") == 2)
        #expect(try await client.parts(of: Schema.hour).allSatisfy { ($0 + 1) * 672 > until })
    }
}
