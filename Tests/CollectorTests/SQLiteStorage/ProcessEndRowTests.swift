import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

/// How long and how many ends of processes a store's file keeps.
@Suite struct ProcessEndRowTests {
    private let folder: TemporaryFolder
    private let clock = Clock()
    private static let hour: UInt64 = 3600

    init() throws {
        folder = try TemporaryFolder()
        clock.time = Samples.time(100)
    }

    private func open() throws -> SQLiteStorage {
        var limits = SQLiteLimits()
        (limits.clockPatience, limits.retention.hours) = (.max, 400 * Self.hour * 1_000_000_000)
        return try SQLiteStorage(path: folder.path("collector.sqlite"), limits: limits, now: { [clock] in clock.time })
    }

    private func store(_ times: Range<UInt64>, _ service: String = "checkout", in storage: SQLiteStorage) async throws {
        var metrics = InstanceMetrics(resource: Samples.resource(service), points: [])
        metrics.ends = times.map { ReportedEnd(instance: "old", time: Samples.time($0), cause: .killed) }
        _ = try await storage.store([metrics], of: nil)
    }

    @Test func endIsForgottenWithThePointsOfHours() async throws {
        let storage = try open()
        try await store(50..<51, in: storage)
        clock.time = Samples.time(400 * Self.hour + 49)
        try await storage.maintain()
        #expect(try await storage.rows("process_end") == 1)
        clock.time = Samples.time(400 * Self.hour + 50)
        try await storage.maintain()
        #expect(try await storage.rows("process_end") == 0)
    }

    @Test func latestEndsOfAServiceAreKept() async throws {
        let storage = try open()
        try await store(0..<1, "prices", in: storage)
        try await store(1..<10_004, in: storage)
        let kept = try await storage.processEnds(in: Samples.everything, RequestFilter(), limit: .max)
        #expect(kept.count == 10_001 && kept.last?.service == "prices")
        #expect(kept.dropLast().last?.end.time == Samples.time(4))
    }
}
