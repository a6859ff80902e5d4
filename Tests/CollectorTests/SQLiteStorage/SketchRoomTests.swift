import Fixtures
import Foundation
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// The memory that a report's sketches need.
@Suite struct SketchRoomTests {
    private let folder: TemporaryFolder
    private let storage: SQLiteStorage
    private static let maxBytes = 256 * 1024
    /// Durations of 1 ms to 10 s, with values in each of about 1,700 buckets.
    private static let seconds = (0..<2000).map { 0.001 * pow(10, Double($0) / 500) }

    init() throws {
        folder = try TemporaryFolder()
        var limits = SQLiteLimits()
        limits.maxSketchBytes = Self.maxBytes
        storage = try SQLiteStorage(path: folder.path("collector.sqlite"), limits: limits)
    }

    @Test func reportOfManyWideSketchesBecomesCoarserAndCountsAll() async throws {
        let points = (0..<40).map { Samples.point(Samples.dimensions(endpoint: "/\($0)"), Self.seconds) }
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: points)], of: nil)

        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: [.endpoint]))
        #expect(answer.groups.count == 40)
        #expect(answer.groups.allSatisfy { $0.count == 2000 })
        #expect(answer.groups.reduce(0) { $0 + $1.sketchBytes } <= Self.maxBytes)
        for group in answer.groups {
            let median = try #require(group.statistics.duration.quantile(0.5))
            #expect(abs(median / 0.1 - 1) < 0.05)
        }
    }

    @Test func slotsBecomeCoarserBeforeTheirGroups() async throws {
        let points = (1...20).map { Samples.point(Samples.dimensions(), Self.seconds, end: UInt64($0) * 60) }
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: points)], of: nil)

        let window = TimeWindow(from: Samples.time(0), to: Samples.time(1200))
        var query = StatisticsQuery(window: window, by: [.endpoint], step: 60_000_000_000)
        query.slotScale = ExponentialHistogram.defaultScale
        let answer = try await storage.statistics(query)
        let group = try #require(answer.groups.first)
        let slots = try #require(answer.slots?.groups.first).filter { $0.count > 0 }
        #expect(group.count == 40_000 && slots.map(\.count) == Array(repeating: 2000, count: 20))
        #expect(group.succeeded.duration.scale == ExponentialHistogram.defaultScale)
        #expect(slots.allSatisfy { $0.succeeded.duration.scale < ExponentialHistogram.defaultScale })
        #expect((slots + [group]).reduce(0) { $0 + $1.sketchBytes } <= Self.maxBytes)
    }
}
