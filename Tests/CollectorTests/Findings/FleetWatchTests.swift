import Fixtures
import Foundation
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletFindings

/// Findings of a real store.
@Suite struct FleetWatchTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The question about the last hour.
    private func question(
        _ store: OutageStore, _ filter: [MartletStorage.Dimension: Set<String>] = [:], _ kinds: Set<FindingKind> = []
    ) -> FindingsQuestion {
        let window = TimeWindow(from: store.now - 3_600_000_000_000, to: store.now)
        return FindingsQuestion(window: window, filter: RequestFilter(filter), kinds: kinds)
    }

    private func watch(_ store: OutageStore) async throws -> FleetWatch {
        let watch = FleetWatch(of: try store.open())
        try await watch.tick(now: store.now)
        return watch
    }

    // MARK: Findings

    @Test func outageIsOneFindingThatNamesItsEndpointAndItsTime() async throws {
        let store = try await OutageStore(in: folder)
        let answer = try await watch(store).findings(question(store))
        #expect(answer.count == 1 && answer.isComplete && answer.quietSince == nil)
        let finding = try #require(answer.findings.first)
        #expect(finding.kind == .failing && finding.isOpen)
        #expect(
            finding.subject
                == FindingSubject(service: "orders", kind: .server, method: "GET", endpoint: "/orders"))
        let outage = FindingTime.slot(at: store.start) + OutageStore.outage * 6
        #expect(abs(try #require(finding.since) - outage) <= 6)
        #expect(finding.what.map(\.value) == ["503"])
        #expect(finding.command.contains("--environment test"))
    }

    @Test func newEnvironmentHasFindingsBeforeTheNextTick() async throws {
        let path = folder.path("collector.sqlite")
        try SQLiteStorage(path: path).close()
        let watch = FleetWatch(of: try SQLiteStorage(readingFrom: path))
        try await watch.tick(now: Samples.time(2_800))
        let store = try await OutageStore(in: folder)
        #expect(await watch.findings(question(store)).count == 0)
        try await watch.meetNew(now: store.now)
        #expect(await watch.findings(question(store)).count == 1)
    }

    @Test func quietStoreHasNoFindings() async throws {
        let store = try await OutageStore(in: folder, hasOutage: false)
        let answer = try await watch(store).findings(question(store))
        #expect(answer.findings.isEmpty && answer.count == 0 && answer.isComplete && answer.quietSince == nil)
    }

    @Test func findingKeepsItsIDFromTickToTick() async throws {
        let store = try await OutageStore(in: folder)
        let watch = FleetWatch(of: try store.open())
        var ids: Set<String> = []
        for minute in 34...40 {
            try await watch.tick(now: store.start + UInt64(minute) * 60_000_000_000 + 10_000_000_000)
            ids.formUnion(await watch.findings(question(store)).findings.map(\.id))
        }
        #expect(ids.count == 1)
    }

    @Test func filtersAndKindsSelectFindings() async throws {
        let store = try await OutageStore(in: folder)
        let watch = try await watch(store)
        let filters: [([MartletStorage.Dimension: Set<String>], Int)] = [
            ([.service: ["orders"]], 1), ([.service: ["users"]], 0), ([.endpoint: ["/orders"], .method: ["GET"]], 1),
            ([.environment: ["test"]], 1), ([.environment: [""]], 0), ([.system: ["redis"]], 0),
        ]
        for (filter, count) in filters {
            #expect(await watch.findings(question(store, filter)).count == count, "\(filter)")
        }
        #expect(await watch.findings(question(store, [:], [.failing, .slow])).count == 1)
        #expect(await watch.findings(question(store, [:], [.slow])).count == 0)
    }

    @Test func nothingIsCompleteBeforeTheFirstTickAndBeforeWhatIsKept() async throws {
        let store = try await OutageStore(in: folder)
        let watch = FleetWatch(of: try store.open())
        #expect(await watch.findings(question(store)).isComplete == false)
        try await watch.tick(now: store.now)
        for (days, isComplete) in [(29, true), (31, false)] as [(UInt64, Bool)] {
            var long = question(store)
            long.window.from = store.now - days * 86_400_000_000_000
            #expect(await watch.findings(long).isComplete == isComplete, "\(days) days")
        }
        // A window that begins after the last minute that was read.
        var seconds = question(store)
        (seconds.window.from, seconds.window.to) = (store.now, store.now + 5_000_000_000)
        #expect(await watch.findings(seconds).isComplete)
    }

    @Test func nextTickIsTenSecondsAfterTheEndOfAMinute() {
        let minute = Samples.time(2_800)
        #expect(FleetWatch.timeToNextTick(now: minute) == 10_000_000_000)
        #expect(FleetWatch.timeToNextTick(now: minute + 10_000_000_000) == 60_000_000_000)
        #expect(FleetWatch.timeToNextTick(now: minute + 30_000_000_000) == 40_000_000_000)
    }

    @Test func reportIsTheSameAfterItWasSent() async throws {
        let store = try await OutageStore(in: folder)
        let report = try await watch(store).report(question(store))
        let text = try ReportJSON.text(of: report)
        #expect(try ReportJSON.value(of: FindingsReport.self, in: Data(text.utf8)) == report)
        #expect(text.contains("\"quiet_since\" : null"))
    }

    // MARK: What is read

    @Test func minuteHasTheCountsOfItsSlots() async throws {
        let storage = try SQLiteStorage(path: folder.path("counts.sqlite"), now: { Samples.time(2_860) })
        var query = Samples.dimensions(endpoint: "SELECT users")
        query.system = "postgresql"
        let points = [
            Samples.point(Samples.dimensions(), [0.1, 0.1], end: 2_810),
            Samples.point(Samples.dimensions(status: 404, error: "404"), [0.1], end: 2_810),
            Samples.point(Samples.dimensions(status: nil, error: "hung"), [300], end: 2_810),
            Samples.point(Samples.dimensions(status: 503, error: "503"), [3], end: 2_860),
            Samples.point(query, [0.1], end: 2_810),
        ]
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: points)], of: nil)
        let minute = FindingTime.minute(of: FindingTime.slot(at: Samples.time(2_800)))
        let reading = FleetReading(storage: storage)
        let agents = try await reading.agents(since: minute)
        let fleet = try #require(
            try await reading.minutes(minute...minute, of: "test", agents, latest: minute).first)
        #expect(fleet.rows.count == 1)
        let row = try #require(fleet.rows.first)
        #expect(row.row.endpoint == "/users/{id}" && row.row.kind == .client && row.row.host == "api.example.com:443")
        #expect(row.slots.map(\.requests) == [3, 0, 0, 0, 0, 1])
        #expect(row.slots.map(\.failures) == [1, 0, 0, 0, 0, 1])
        #expect(row.slots[0].hung == 1)
        #expect(row.slots[0].statuses == [StatusCount(status: 404, count: 1)])
        #expect(row.slots[5].durations == [BucketCount(bucket: CoarseBuckets.bucket(ofIndex: 6), count: 1)])
    }

    @Test func minutesThatAreTooLargeForAnAnswerAreReadInParts() async throws {
        let store = try await OutageStore(in: folder, hasOutage: false)
        var limits = SQLiteLimits()
        limits.maxGroups = 40
        let reading = FleetReading(storage: try store.open(limits: limits))
        let first = FindingTime.minute(of: FindingTime.slot(at: store.start))
        let minutes = try await reading.minutes(first...first + 9, of: "test", [], latest: first + 9)
        #expect(minutes.map(\.rows.count) == Array(repeating: 3, count: 10))
    }
}
