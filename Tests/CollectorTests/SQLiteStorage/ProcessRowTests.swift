import Fixtures
import GRDB
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

@Suite struct ProcessRowTests {
    private let folder: TemporaryFolder
    private let clock = Clock()

    init() throws {
        folder = try TemporaryFolder()
        clock.time = Samples.time(0)
    }

    private func open(maxBytes: UInt64 = .max) throws -> SQLiteStorage {
        var limits = SQLiteLimits()
        limits.maxStoreBytes = maxBytes
        return try SQLiteStorage(
            path: folder.path("collector.sqlite"), limits: limits, now: { [clock] in clock.time })
    }

    private func store(_ point: ProcessPoint, in storage: SQLiteStorage, instance: String = "i-1") async throws {
        _ = try await storage.store(
            [InstanceMetrics(resource: Samples.resource(instance: instance), points: [], process: [point])], of: nil)
    }

    private static func point(end: UInt64) -> ProcessPoint {
        var statistics = ProcessStatistics()
        statistics.add(end, of: .threads)
        return ProcessPoint(start: Samples.time(end), end: Samples.time(end), statistics: statistics)
    }

    @Test func figuresAreDecodedUnchanged() {
        var statistics = ProcessStatistics()
        #expect(ProcessBlob.decode(ProcessBlob.encode(statistics)) == statistics)
        statistics.counts = [.cpuUser: .max, .involuntarySwitches: 0]
        statistics.covered = 7
        statistics.gauges = [.residentMemory: .init(1 << 40), .mainQueueDelay: .init(count: 3, sum: 30, max: 20)]
        let bytes = ProcessBlob.encode(statistics)
        #expect(ProcessBlob.decode(bytes) == statistics)
        for length in 0..<bytes.count { #expect(ProcessBlob.decode(Array(bytes.prefix(length))) == nil) }
        #expect(ProcessBlob.decode(bytes + [0]) == nil)
    }

    @Test func senderHasOneRowPerSlotWhateverItSends() async throws {
        let storage = try open()
        for second in 1...600 as ClosedRange<UInt64> { try await store(Self.point(end: second), in: storage) }
        let (tiers, length) = (Tier.ofProcesses, Int64(Samples.time(600)))
        let expected = tiers.reduce(0) { sum, tier in
            sum + Int((tier.slotEnd(of: length) - tier.slotEnd(of: Int64(Samples.time(1)))) / tier.length) + 1
        }
        #expect(try await storage.rows("process_slot") == expected)
    }

    /// Stores a body of a sender that does not number its batches: CPU seconds up to a given second.
    private func store(
        _ seconds: UInt64, of counter: ProcessCounter = .cpuUser, until ends: [UInt64], in storage: SQLiteStorage
    ) async throws {
        let points = ends.map { end in
            ProcessPoint(
                start: Samples.time(end - 1), end: Samples.time(end), counter, seconds * 1_000_000_000)
        }
        let resource = TelemetryResource(service: "prices", instance: "python", agent: "opentelemetry 1.38")
        _ = try await storage.store([InstanceMetrics(resource: resource, points: [], process: points)], of: nil)
    }

    @Test func resentBodyWithOnlyFiguresCountsOnce() async throws {
        let storage = try open()
        for _ in 1...2 {
            try await store(1, until: [100, 163], in: storage)
            // The other part of the figures of the same moment.
            try await store(1, of: .cpuSystem, until: [163], in: storage)
        }
        for _ in 1...2 { try await store(3, until: [164], in: storage) }
        let window = TimeWindow(from: Samples.time(0), to: Samples.time(600))
        let answer = try await storage.processes(ProcessQuery(window: window, step: 60_000_000_000))
        let total = try #require(answer.services.first).total
        #expect(total.counts == [.cpuUser: 5_000_000_000, .cpuSystem: 1_000_000_000])
    }

    /// Processes that were forked after their SDK was made share a start.
    @Test func totalsOfALowerProcessCountOnceTheHighestHasEnded() async throws {
        let storage = try open()
        for (seconds, end) in [(100, 10), (40, 20), (43, 3600), (44, 3611), (50, 3621)] as [(UInt64, UInt64)] {
            let total = ProcessTotal(
                .cpuUser, start: Samples.time(0), end: Samples.time(end), value: seconds * 1_000_000_000)
            _ = try await storage.store(
                [InstanceMetrics(resource: Samples.resource(), points: [], processTotals: [total])], of: nil)
        }
        let window = TimeWindow(from: Samples.time(0), to: Samples.time(4000))
        let answer = try await storage.processes(ProcessQuery(window: window, step: 60_000_000_000))
        #expect(answer.services.map(\.total.counts) == [[.cpuUser: 106_000_000_000]])
    }

    @Test func startsOfACounterAreBounded() async throws {
        let storage = try open()
        for number in 1...200 as ClosedRange<UInt64> {
            let total = ProcessTotal(
                .cpuUser, start: Samples.time(number), end: Samples.time(number + 1), value: 1_000_000_000)
            _ = try await storage.store(
                [InstanceMetrics(resource: Samples.resource(), points: [], processTotals: [total])], of: nil)
        }
        #expect(try await storage.rows("process_total") == 64)
    }

    @Test func storeThatIsTooLargeDeletesItsFinestFigures() async throws {
        let storage = try open(maxBytes: 1)
        try await store(Self.point(end: 10), in: storage)
        try await storage.maintain()
        let tiers = try await storage.pool.read { try Int.fetchAll($0, sql: "SELECT tier FROM process_slot") }
        #expect(tiers == [Tier.hour.rawValue])
    }

    @Test func figuresOfADamagedRowAreLeftOut() async throws {
        let storage = try open()
        try await store(Self.point(end: 10), in: storage)
        try await storage.pool.write { try $0.execute(sql: "UPDATE process_slot SET figures = x'09'") }
        let window = TimeWindow(from: Samples.time(0), to: Samples.time(60))
        let answer = try await storage.processes(ProcessQuery(window: window, step: 10_000_000_000))
        #expect(answer.services.isEmpty)
        try await store(Self.point(end: 10), in: storage)
        let later = try await storage.processes(ProcessQuery(window: window, step: 10_000_000_000))
        #expect(later.services.count == 1)
    }
}
