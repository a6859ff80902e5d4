import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Synchronization
import Testing

@testable import MartletFindings

/// Findings that a store keeps, over restarts and with several collectors.
@Suite struct KeptFindingsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func time(_ store: OutageStore, minute: Int) -> UnixNanoseconds {
        store.start + UInt64(minute) * 60_000_000_000 + 10_000_000_000
    }

    /// Returns the findings that reach into some minutes of the store.
    private static func findings(_ watch: FleetWatch, _ store: OutageStore, _ minutes: Range<Int>) async -> [Finding] {
        let (from, to) = (UInt64(minutes.lowerBound), UInt64(minutes.upperBound))
        let window = TimeWindow(from: store.start + from * 60_000_000_000, to: store.start + to * 60_000_000_000)
        return await watch.findings(FindingsQuestion(window: window)).findings
    }

    /// A collector from its start to its end, which ticks in some minutes.
    private func collector(_ store: OutageStore, _ minutes: [Int]) async throws -> [Finding] {
        let storage = try store.open()
        let watch = FleetWatch(of: storage, as: "a")
        for minute in minutes { #expect(try await watch.tick(now: Self.time(store, minute: minute))) }
        let findings = await Self.findings(watch, store, 0..<minutes[minutes.count - 1])
        try storage.close()
        return findings
    }

    // MARK: Restarts

    @Test func outageOfThePastIsInTheListAfterARestart() async throws {
        let store = try await OutageStore(in: folder, minutes: 260, end: 40)
        let before = try await collector(store, [60])
        let storage = try store.open()
        let watch = FleetWatch(of: storage, as: "b")
        // Before its first tick the collector answers with what the store has, and says that more may come.
        #expect(await Self.findings(watch, store, 0..<60) == before)
        try await watch.tick(now: Self.time(store, minute: 260))
        #expect(await Self.findings(watch, store, 0..<60) == before)
        let until = try #require(before.first?.until)
        #expect(before.count == 1 && abs(until - FindingTime.slot(at: store.start) - 40 * 6) <= 6)
        let hour = TimeWindow(from: Self.time(store, minute: 200), to: Self.time(store, minute: 260))
        let quiet = await watch.findings(FindingsQuestion(window: hour))
        #expect(quiet.findings.isEmpty && quiet.isComplete && quiet.quietSince == FindingTime.time(until))
    }

    @Test func findingAppearsOnceAfterARestart() async throws {
        let store = try await OutageStore(in: folder)
        let before = try await collector(store, [35])
        let after = try await collector(store, [38, 40])
        #expect(before.count == 1 && before.map(\.id) == after.map(\.id))
        #expect(after.first?.isOpen == true && after.first?.since == before.first?.since)
    }

    /// The detector gives the outage another id, because all that it reads after its start is bad.
    @Test func outageThatBeganBeforeWhatIsReadKeepsItsIDAndItsBeginning() async throws {
        let store = try await OutageStore(in: folder, minutes: 260)
        let before = try #require(try await collector(store, [35, 240]).first)
        let after = try await collector(store, [250])
        #expect(after.map(\.id) == [before.id])
        let since = try #require(after.first?.since)
        #expect(abs(since - FindingTime.slot(at: store.start) - OutageStore.outage * 6) <= 6)
        #expect(after.first?.title.contains("since") == true)
    }

    @Test func whatNobodyGoesOnWithIsClosed() async throws {
        let store = try await OutageStore(in: folder)
        let last = Samples.time(2_860)
        let old = FindingRecord(
            environment: "gone", id: "f-1", began: Samples.time(2_800), end: nil, changed: last,
            text: try #require(Self.found("f-1", "files", 0, nil).record(in: "gone", at: last)).text)
        let storage = try store.open()
        try await storage.keep([old], removing: [])
        try await FleetWatch(of: storage, as: "a").tick(now: store.now)
        let query = FindingRecordsQuery(window: Samples.everything, environments: ["gone"], limit: 10)
        #expect(try await storage.findings(query).map(\.end) == [last])
    }

    // MARK: Several collectors

    @Test func oneCollectorComputesAndTheOthersAnswerFromTheStore() async throws {
        let store = try await OutageStore(in: folder)
        let leased = LeasedStore(try store.open())
        let (one, other) = (FleetWatch(of: leased, as: "a"), FleetWatch(of: leased, as: "b"))
        #expect(try await one.tick(now: Self.time(store, minute: 38)))
        #expect(try await !other.tick(now: Self.time(store, minute: 38)))
        let found = await Self.findings(one, store, 0..<38)
        #expect(found.count == 1)
        #expect(await Self.findings(other, store, 0..<38) == found)
        leased.holder = nil
        #expect(try await other.tick(now: Self.time(store, minute: 40)))
        #expect(try await !one.tick(now: Self.time(store, minute: 40)))
        let later = await Self.findings(other, store, 0..<40)
        #expect(later.map(\.id) == found.map(\.id))
        #expect(await Self.findings(one, store, 0..<40) == later)
    }

    @Test func tickWithoutChangesStoresNothing() async throws {
        let store = try await OutageStore(in: folder, minutes: 70, end: 40)
        let counted = LeasedStore(try store.open())
        let watch = FleetWatch(of: counted, as: "a")
        for minute in [60, 61, 62, 70] { try await watch.tick(now: Self.time(store, minute: minute)) }
        #expect(counted.writes == 1)
        let reader = FleetWatch(of: counted)
        try await reader.tick(now: store.now)
        #expect(await Self.findings(reader, store, 0..<60).count == 1)
        #expect(counted.writes == 1)
    }

    /// A store that several collectors share. The holder of its lease keeps it until the test takes it away.
    private final class LeasedStore: StorageWrapper {
        let storage: any Storage
        private let state = Mutex<(holder: String?, writes: Int)>((nil, 0))

        init(_ storage: any Storage) { self.storage = storage }

        var writes: Int { state.withLock { $0.writes } }

        var holder: String? {
            get { state.withLock { $0.holder } }
            set { state.withLock { $0.holder = newValue } }
        }

        func leaseFindings(to owner: String, seconds: Int) async throws -> Bool {
            state.withLock { state in
                state.holder = state.holder ?? owner
                return state.holder == owner
            }
        }

        func keep(_ findings: [FindingRecord], removing removed: [FindingRecord]) async throws {
            state.withLock { $0.writes += 1 }
            try await storage.keep(findings, removing: removed)
        }
    }

    // MARK: What has to be stored

    private static let begin = 6 * SampleFleet.begin

    /// A finding about `POST /` of a service, with its times in slots.
    private static func found(_ id: String, _ service: String, _ began: Slot, _ until: Slot?) -> RankedFinding {
        let subject = FindingSubject(service: service, kind: .server, method: "POST", endpoint: "/")
        let (since, end) = (begin + began, until.map { begin + $0 })
        let finding = Finding(
            id: id, kind: .failing, since: since, until: end, isOpen: until == nil,
            title: "POST / of \(service) fails \(FindingTitle.times(since, end)) in 9 % of 100 requests",
            subject: subject, cost: FindingCost(requests: 9, seconds: 0, processes: 0), before: nil, after: nil,
            who: [],
            what: [], side: nil, deployment: nil, also: [], command: "", page: "")
        return RankedFinding(finding: finding, began: since, rank: 9)
    }

    /// Findings that are kept as if a detector had found them.
    private static func kept(_ found: [RankedFinding]) -> KeptFindings {
        var kept = KeptFindings()
        kept.recognize(found)
        kept.note(kept.changes(found, [], now: begin))
        return kept
    }

    @Test func onlyChangesAreStored() {
        let (one, other) = (Self.found("f-1", "a", 0, nil), Self.found("f-2", "b", 0, 60))
        let kept = Self.kept([one, other])
        var (dearer, forgotten) = (one, other)
        dearer.finding.cost.requests = 10
        // As time passes, the detector forgets the counts of what is over.
        forgotten.finding.cost.requests = 1
        let changes = kept.changes([dearer, forgotten], [], now: Self.begin + 90)
        #expect(changes.changed.map(\.finding) == [dearer.finding])
        #expect(changes.removed.isEmpty && changes.past.isEmpty)
    }

    @Test func findingThatBecomesAPartOfAnotherIsRemovedAndAnOldOneStays() {
        let all = [Self.found("f-1", "a", 0, nil), Self.found("f-2", "b", 0, 60), Self.found("f-3", "c", 0, nil)]
        let changes = Self.kept(all).changes([all[0]], [all[1]], now: Self.begin + 90)
        #expect(changes.removed.map(\.finding.id) == ["f-3"])
        #expect(changes.changed.isEmpty && changes.past == ["f-2", "f-3"])
    }

    @Test func findingThatIsForgottenWhileItGoesOnEndsThen() throws {
        let silent = Self.found("f-1", "a", 0, nil)
        let changes = Self.kept([silent]).changes([], [silent], now: Self.begin + 1_080)
        let closed = try #require(changes.changed.first).finding
        #expect(!closed.isOpen && closed.until == Self.begin + 1_080 && closed.since == silent.finding.since)
        #expect(closed.title.contains("from "))
    }

    @Test func earlierFindingThatSuffersFromAPresentOneIsAPartOfIt() throws {
        let edge = Self.found("f-9", "edge", 6, 60)
        var (kept, cause) = (KeptFindings(), Self.found("f-1", "a", 0, 60))
        cause.finding.also = [edge.finding.subject]
        kept.restore([try #require(edge.record(in: "", at: FindingTime.time(Self.begin + 60)))])
        kept.recognize([cause])
        #expect(kept.changes([cause], [], now: Self.begin + 90).removed.map(\.finding.id) == ["f-9"])
    }

    @Test(arguments: [(600, 660, "f-9"), (900, 960, "f-1")])
    func sameTroubleWithinHalfAnHourKeepsItsID(from: Slot, to: Slot, id: String) throws {
        var kept = KeptFindings()
        let earlier = Self.found("f-9", "a", 500, 560)
        kept.restore([try #require(earlier.record(in: "", at: FindingTime.time(Self.begin + 560)))])
        let found = Self.found("f-1", "a", from, to)
        kept.recognize([found])
        #expect(kept.named(found, begin: Self.begin).finding.id == id)
    }

    @Test func recordWithMoreThanATextHoldsLeavesOutWhatSuffers() throws {
        var found = Self.found("f-1", "a", 0, nil)
        found.finding.also = (0..<500).map { FindingSubject(service: "service-\($0)", kind: .server, endpoint: "/") }
        let record = try #require(found.record(in: "test", at: 1))
        #expect(record.text.utf8.count <= FindingRecord.textLimit && record.end == nil)
        let read = try #require(RankedFinding(record))
        #expect(read.finding.also.count > 50 && read.finding.title == found.finding.title && read.began == found.began)
    }
}
