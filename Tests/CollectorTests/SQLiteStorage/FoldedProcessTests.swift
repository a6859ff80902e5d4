import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

/// Processes that were silent for seven days: what is left of them in the hours of their version.
@Suite struct FoldedProcessTests {
    private let folder: TemporaryFolder
    private let clock = Clock()
    private let storage: SQLiteStorage
    /// A full hour.
    private static let start: UInt64 = 3600 - 1_790_000_000 % 3600
    private static let second: UInt64 = 1_000_000_000
    private static let week: UInt64 = 7 * 86_400

    init() throws {
        folder = try TemporaryFolder()
        clock.time = Samples.time(Self.start)
        var limits = SQLiteLimits()
        limits.clockPatience = .max
        storage = try SQLiteStorage(
            path: folder.path("collector.sqlite"), limits: limits, now: { [clock] in clock.time })
    }

    /// Stores a reading of a process.
    private func store(
        _ requests: Int, captured: UInt64, end: UInt64, from instance: String = "a", began: UInt64 = 0,
        unwatched: UInt64 = 0
    ) async throws {
        clock.time = Samples.time(Self.start + end)
        let resource = Samples.resource(instance: instance)
        var metrics = Samples.metrics(requests: requests, captured: captured, end: Self.start + end, resource: resource)
        metrics.ledger?.age = (end - began) * Self.second
        metrics.ledger?.unwatched = unwatched * Self.second
        _ = try await storage.store([metrics], of: nil)
    }

    private func pass(to end: UInt64) async throws {
        clock.time = Samples.time(Self.start + end)
        for _ in 0..<2 { try await storage.maintain() }
    }

    private func account(_ from: UInt64, _ to: UInt64) async throws -> WindowAccount {
        let window = TimeWindow(from: Samples.time(Self.start + from), to: Samples.time(Self.start + to))
        return try await storage.account(in: window, RequestFilter())
    }

    @Test func completenessAndGapsOfAWindowStayWhenItsProcessesAreGone() async throws {
        for hour in 1...5 as ClosedRange<UInt64> {
            try await store(9, captured: hour * 10, end: hour * 3600, unwatched: min(hour, 3) * 60)
            guard hour > 2 else { continue }
            try await store(10, captured: (hour - 2) * 10, end: hour * 3600, from: "b", began: 7200)
        }
        let windows = [(0, 5), (0, 2), (1, 4), (2, 5), (4, 5)].map { (UInt64($0) * 3600, UInt64($1) * 3600) }
        var before: [WindowAccount] = []
        for (from, to) in windows { before.append(try await account(from, to)) }
        try await pass(to: Self.week + 6 * 3600)
        #expect(try await storage.rows("resource") == 0)
        #expect(try await storage.rows("ledger") == 0)
        for ((from, to), old) in zip(windows, before) {
            let new = try await account(from, to)
            let name = "\(from) to \(to)"
            #expect(new.missing == old.missing, "\(name)")
            #expect(abs((new.completeness ?? 0) - (old.completeness ?? 2)) < 1e-9, "\(name)")
            #expect(new.longestUnwatched == old.longestUnwatched, "\(name)")
            #expect(new.unwatchedInstances == old.unwatchedInstances, "\(name)")
            #expect(new.instances == old.instances, "\(name)")
            #expect(new.services.mapValues(\.missing) == old.services.mapValues(\.missing), "\(name)")
        }
    }

    /// An agent delivers for up to 21 days what a dead process left.
    @Test func processThatComesBackContinuesItsAccount() async throws {
        try await store(100, captured: 100, end: 3600)
        try await pass(to: Self.week + 2 * 3600)
        #expect(try await storage.rows("resource") == 0)
        let late = Self.week + 2 * 3600 + 60
        try await store(10, captured: 110, end: late)
        #expect(try await account(Self.week, late + 60).missing == 0)
        #expect(try await account(Self.week, late + 60).completeness == 1)
        try await pass(to: 2 * Self.week + 4 * 3600)
        #expect(try await account(0, 2 * Self.week).missing == 0)
        #expect(try await account(0, 2 * Self.week).instances == 1)
    }

    /// A sender without batch numbers may send again what it kept for a week.
    @Test func sumOfAProcessThatIsGoneCountsOnce() async throws {
        let point = RequestPoint(
            dimensions: Samples.dimensions(), start: Samples.time(Self.start), end: Samples.time(Self.start + 60),
            statistics: Samples.statistics([0.25, 0.5, 0.5]))
        let metrics = InstanceMetrics(
            resource: TelemetryResource(service: "prices", instance: "p", agent: "opentelemetry 1.38"), points: [],
            cumulative: [CumulativePoint(stream: StreamID(hashing: [[1]]), point: point)])
        func count() async throws -> [UInt64] {
            let window = TimeWindow(from: Samples.time(Self.start), to: Samples.time(Self.start + 3600))
            return try await storage.statistics(StatisticsQuery(window: window, by: [])).groups.map(\.count)
        }
        clock.time = Samples.time(Self.start + 61)
        _ = try await storage.store([metrics], of: nil)
        #expect(try await count() == [3])
        try await pass(to: Self.week + 2 * 3600)
        #expect(try await storage.rows("resource") == 0)
        _ = try await storage.store([metrics], of: nil)
        #expect(try await count() == [3])
    }

    @Test func numbersOfProcessesStayRight() async throws {
        for hour in 1...6 as ClosedRange<UInt64> {
            for instance in [hour < 5 ? "a" : "b", "c"] {
                clock.time = Samples.time(Self.start + hour * 3600)
                var statistics = ProcessStatistics()
                statistics.counts = [.cpuUser: 1800 * Self.second]
                statistics.covered = 3600 * Self.second
                statistics.add(50, of: .residentMemory)
                let age = instance == "b" ? (hour - 4) * 3600 - 60 : hour * 3600
                statistics.add(age * Self.second, of: .uptime)
                let point = ProcessPoint(
                    start: clock.time - 3600 * Self.second, end: clock.time, statistics: statistics)
                let metrics = InstanceMetrics(
                    resource: Samples.resource(instance: instance), points: [], process: [point])
                _ = try await storage.store([metrics], of: nil)
            }
        }
        func processes(_ from: UInt64, _ to: UInt64) async throws -> ProcessSeries {
            let window = TimeWindow(
                from: Samples.time(Self.start + from * 3600), to: Samples.time(Self.start + to * 3600))
            let answer = try await storage.processes(ProcessQuery(window: window, step: 3600 * Self.second))
            return try #require(answer.services.first)
        }
        let windows = [(0, 6), (0, 4), (3, 5), (4, 6)] as [(UInt64, UInt64)]
        var before: [ProcessSeries] = []
        for (from, to) in windows { before.append(try await processes(from, to)) }
        #expect(before.map(\.processes) == [3, 2, 3, 2])
        try await pass(to: Self.week + 7 * 3600)
        #expect(try await storage.rows("process_slot") == 0)
        for ((from, to), old) in zip(windows, before) {
            let new = try await processes(from, to)
            #expect(new.processes == old.processes, "\(from) to \(to)")
            #expect(new.started == old.started, "\(from) to \(to)")
            #expect(new.total == old.total, "\(from) to \(to)")
            #expect(new.slots.map { $0?.processes } == old.slots.map { $0?.processes }, "\(from) to \(to)")
            for (one, other) in zip(new.slots, old.slots) {
                #expect(abs((one?.cores ?? 0) - (other?.cores ?? 0)) < 1e-6, "\(from) to \(to)")
            }
        }
    }

    /// The metrics that report the requests of spans may come days later, but not after seven days.
    @Test func spansJoinTheHoursOfTheirVersionWithoutThoseThatMetricsReported() async throws {
        let resource = TelemetryResource(service: "prices", instance: "p", agent: "opentelemetry 1.38")
        for hour in 1...3 as ClosedRange<UInt64> {
            clock.time = Samples.time(Self.start + hour * 3600)
            var span = Samples.detail(UInt8(hour))
            span.start = clock.time - Self.second
            _ = try await storage.store([DetailsBatch(resource: resource, details: [span])], of: nil)
        }
        let point = RequestPoint(
            dimensions: Samples.dimensions(status: 503, error: "503"),
            start: Samples.time(Self.start + 2 * 3600 + 1800),
            end: Samples.time(Self.start + 3 * 3600), statistics: Samples.statistics([0.25]))
        _ = try await storage.store([InstanceMetrics(resource: resource, points: [point])], of: nil)
        let window = TimeWindow(from: Samples.time(Self.start), to: Samples.time(Self.start + 4 * 3600))
        func counts() async throws -> [UInt64] {
            try await storage.statistics(StatisticsQuery(window: window, by: [])).groups.flatMap {
                [$0.count, $0.fromSpans]
            }
        }
        #expect(try await counts() == [3, 2])
        try await pass(to: Self.week - 3600)
        #expect(try await counts() == [3, 2])
        #expect(try await storage.rows("chunk WHERE tier = 2") == 3)
        try await pass(to: Self.week + 5 * 3600)
        #expect(try await storage.rows("chunk") == 0)
        #expect(try await storage.rows("resource") == 0)
        #expect(try await counts() == [3, 2])
    }
}
