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

    /// Each tick reads the ends again, and the second one brings an end that was reported late. A clean end is no trouble.
    @Test func endsOfProcessesAreAFindingWithTheirLineAndWhatWasInFlight() async throws {
        let store = try await OutageStore(in: folder, hasOutage: false)
        let storage = try store.open()
        let watch = FleetWatch(of: storage)
        for (number, minutes) in [[30, 33, 37], [35]].enumerated() {
            var metrics = InstanceMetrics(resource: Samples.resource("orders", instance: "new-\(number)"), points: [])
            metrics.ends = minutes.map { minute in
                ReportedEnd(
                    instance: "old-\(minute)", version: "1.2", time: store.start + UInt64(minute) * 60_000_000_000,
                    cause: minute == 30 ? .clean : .signal, signal: minute == 30 ? nil : "SIGILL",
                    file: "App/main.swift", line: 41, endpoint: minute == 33 ? nil : "GET /orders")
            }
            _ = try await storage.store([metrics], of: nil)
            try await watch.tick(now: store.now + UInt64(number) * 60_000_000_000)
        }
        let finding = try #require(await watch.findings(question(store)).findings.first)
        #expect(finding.kind == .ended && finding.subject == FindingSubject(service: "orders"))
        #expect(finding.cost.processes == 3 && finding.since == FindingTime.slot(at: store.start) + 33 * 6)
        #expect(finding.title.contains("ended without shutdown 3 times"))
        #expect(finding.title.hasSuffix("(SIGILL at main.swift:41, 2 of 3 during GET /orders)"))
    }

    @Test func presentFindingsHaveTheirEnvironment() async throws {
        let store = try await OutageStore(in: folder)
        let watch = try await watch(store)
        let present = await watch.present()
        #expect(present.map(\.environment) == ["test"])
        #expect(present.map(\.finding.id) == (await watch.findings(question(store))).findings.map(\.id))
    }

    @Test func sendersWithoutAnEnvironmentHaveFindings() async throws {
        let store = try await OutageStore(in: folder, environment: nil)
        let watch = try await watch(store)
        #expect(await watch.present().map(\.environment) == [nil])
        #expect(await watch.findings(question(store)).findings.map(\.kind) == [.failing])
    }

    @Test func newEnvironmentHasFindingsBeforeTheNextTick() async throws {
        let path = folder.path("collector.sqlite")
        try SQLiteStorage(path: path).close()
        let watch = FleetWatch(of: try SQLiteStorage(readingFrom: path))
        try await watch.tick(now: Samples.time(2_800))
        let store = try await OutageStore(in: folder)
        #expect(await watch.findings(question(store)).count == 0)
        try await watch.catchUp(now: store.now)
        #expect(await watch.findings(question(store)).count == 1)
    }

    @Test func outageThatArrivesLateIsFoundBeforeTheNextTick() async throws {
        let late = LateArrivals()
        let store = try await OutageStore(in: folder, services: ["stock", "users"])
        let watch = FleetWatch(of: try SQLiteStorage(readingFrom: store.path), late: late)
        try await watch.tick(now: store.now)
        #expect(await watch.findings(question(store)).count == 0)
        _ = try await OutageStore(in: folder, services: ["orders"], onStored: { points, _ in late.note(points) })
        try await watch.catchUp(now: store.now)
        #expect(await watch.findings(question(store)).count == 1)
    }

    @Test func latePointsOfAnEnvironmentThatIsNotWatchedAreForgotten() async throws {
        let late = LateArrivals()
        let store = try await OutageStore(in: folder)
        let watch = FleetWatch(of: try SQLiteStorage(readingFrom: store.path), late: late)
        try await watch.tick(now: store.now)
        _ = try await OutageStore(
            in: folder,
            onStored: { points, _ in
                var elsewhere = points
                for index in elsewhere.indices { elsewhere[index].resource.environment = "elsewhere" }
                late.note(elsewhere)
            })
        #expect(late.environments == ["elsewhere"])
        try await watch.catchUp(now: store.now)
        #expect(late.environments.isEmpty)
    }

    @Test func quietStoreHasNoFindings() async throws {
        let store = try await OutageStore(in: folder, hasOutage: false)
        let answer = try await watch(store).findings(question(store))
        #expect(answer.findings.isEmpty && answer.count == 0 && answer.isComplete && answer.quietSince == nil)
    }

    @Test func findingsAreCountedWhileTheyAreOpenAndTheirEnvironmentIsSeen() async throws {
        let store = try await OutageStore(in: folder, end: 34)
        let watch = FleetWatch(of: try store.open())
        #expect(await watch.openFindings().isEmpty)
        var counts: [Int?] = []
        for minute in [34, 40] {
            try await watch.tick(now: store.start + UInt64(minute) * 60_000_000_000 + 10_000_000_000)
            counts.append(await watch.openFindings()["test"]?[.failing])
        }
        #expect(counts == [1, nil])
        try await watch.tick(now: store.now + 5 * 3_600_000_000_000)
        #expect(await watch.openFindings().isEmpty)
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

    /// A process grows by 4 MiB a minute, another one loses requests in one minute, and a third one falls silent. All of this is
    /// read from the store at once.
    @Test func pastOfProcessesIsFoundInTheStore() async throws {
        let store = try await OutageStore(in: folder, hasOutage: false)
        let storage = try store.open()
        let faults: [(String, ClosedRange<UInt64>)] = [("leaky", 1...40), ("lossy", 1...40), ("mute", 1...30)]
        for (service, minutes) in faults {
            for minute in minutes {
                let end = store.start + minute * 60_000_000_000
                var statistics = ProcessStatistics()
                statistics.add((100 + (service == "leaky" ? 4 * minute : minute % 2)) << 20, of: .residentMemory)
                let lost: UInt64 = service == "lossy" && minute >= 20 ? 12 : 0
                let ledger = LedgerReading(
                    time: end, captured: minute + lost, dropped: lost > 0 ? ["buffer_full": lost] : [:],
                    age: minute * 60_000_000_000)
                let batch = InstanceMetrics(
                    resource: Samples.resource(service, instance: service + "-1"), points: [], ledger: ledger,
                    process: [ProcessPoint(start: end - 10_000_000_000, end: end, statistics: statistics)])
                _ = try await storage.store([batch], of: nil)
            }
        }
        let watch = FleetWatch(of: storage)
        try await watch.tick(now: store.now)
        let found = await watch.findings(question(store)).findings
        #expect(Set(found.map { "\($0.kind) \($0.subject.service)" }) == ["memory leaky", "lost lossy", "silent mute"])
        let begin = FindingTime.slot(at: store.start)
        let since = Dictionary(found.map { ($0.kind, ($0.since ?? begin) - begin) }) { first, _ in first }
        #expect(abs(try #require(since[.lost]) - 20 * 6) <= 6)
        #expect(abs(try #require(since[.silent]) - 30 * 6) <= 6)
    }

    /// Five minutes have passed without points, and without a collector.
    @Test(arguments: [nil, "collector"])
    func servicesThatWaitedForACollectorAreNotSilentAtItsStart(owner: String?) async throws {
        let store = try await OutageStore(in: folder, hasOutage: false)
        let watch = FleetWatch(of: try store.open(), as: owner)
        try await watch.tick(now: store.now + 300_000_000_000)
        let found = await watch.findings(question(store)).findings
        #expect(found.map(\.kind) == Array(repeating: .silent, count: owner == nil ? 3 : 0))
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
        let fleet = try #require(try await reading.minutes(minute...minute, of: "test").first)
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
        let minutes = try await reading.minutes(first...first + 9, of: "test")
        #expect(minutes.map(\.rows.count) == Array(repeating: 3, count: 10))
    }
}
