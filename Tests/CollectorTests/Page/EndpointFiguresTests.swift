import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletPage

@Suite struct EndpointFiguresTests {
    private func agent(_ version: String?, first: UInt64, last: UInt64, service: String = "payments") -> AgentRecord {
        var resource = Samples.resource(service, instance: "\(service)-\(version ?? "")-\(first)")
        resource.version = version
        return AgentRecord(
            resource: resource, firstSeen: Samples.time(first), lastSeen: Samples.time(last), ledger: nil, gaps: nil)
    }

    @Test func versionIsNewIfAnotherIsOlderThanTheWindow() {
        let window = TimeWindow(from: Samples.time(100), to: Samples.time(200))
        let seen = SeenVersions([
            agent("1.9", first: 160, last: 190), agent("1.9", first: 150, last: 180),
            agent("1.8", first: 10, last: 151),
            agent("3.0", first: 120, last: 190, service: "catalog"), agent(nil, first: 120, last: 130),
        ])
        #expect(seen.firstSeen("payments", "1.9", in: window) == Samples.time(150))
        #expect(seen.firstSeen("payments", "1.8", in: window) == nil)
        #expect(seen.firstSeen("catalog", "3.0", in: window) == nil)
        #expect(seen.versions(of: "payments").map(\.name) == ["1.8", "1.9"])
        #expect(seen.times(of: "payments", "1.9")?.last == Samples.time(190))
    }

    @Test func changesAreWrittenAsPeopleSayThem() {
        #expect(ChangeText.ratio(2800 as UInt64, 2742) == "+2.1 %")
        #expect(ChangeText.ratio(90.0, 100) == "−10.0 %")
        #expect(ChangeText.ratio(811.0, 123) == "× 6.59")
        #expect(ChangeText.ratio(100.0, 100) == "0.0 %")
        #expect(ChangeText.ratio(5.0, 0) == "from none")
        #expect(ChangeText.ratio(.nan, 1) == "no change")
        #expect(ChangeText.points(0.0832, 0.0325) == "+5.07 pt")
        #expect(ChangeText.signed(-0.04, digits: 1) == "0.0")
    }

    @Test func meansOfSidesCoverAllRequestsWithKnownPhases() throws {
        let means = try #require(
            SideMeans(Samples.phases([.queue: (4, 0.004), .connect: (1, 0.02), .tls: (1, 0.02), .firstByte: (4, 0.4)])))
        #expect(means[.ours] == 1)
        #expect(means[.way] == 10)
        #expect(means[.theirs] == 100)
        #expect(means.sum == 111)
        #expect(means.connected == 0.25)
        #expect(SideMeans(PhaseTotals()) == nil)
    }

    /// The window is a whole hour, for which the store has one point.
    @Test func timesOfAnErrorAreAsPreciseAsInTheStore() async throws {
        let (folder, clock) = (try TemporaryFolder(), Clock())
        clock.time = Samples.time(100)
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"), now: { [clock] in clock.time })
        for end in [30, 100] as [UInt64] {
            let point = Samples.point(Samples.dimensions(status: 500, error: "500"), [0.1], end: end)
            _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: [point])], of: nil)
        }
        clock.time = Samples.time(4000)
        try await storage.maintain()
        let window = [("since", "2026-09-21T14:00:00Z"), ("until", "2026-09-21T15:00:00Z")]
        let pageRequest = try PageRequest(PageAddress("/endpoint"), window + [("service", "checkout")], now: clock.time)
        let failures = try await Endpoint(pageRequest, in: storage).failures
        #expect(failures.rows.map(\.first) == [Samples.time(30)] && failures.rows.map(\.last) == [Samples.time(100)])
        #expect(failures.precision == 10)
    }

    @Test func failuresAreExplained() {
        #expect(FailureText.meaning(status: "503", error: "503") == "Service Unavailable")
        #expect(FailureText.meaning(status: nil, error: "timeout") == "the request or the session timed out")
        #expect(FailureText.meaning(status: "200", error: "connection_reset")?.hasSuffix("after status 200") == true)
        #expect(FailureText.meaning(status: nil, error: "MyError") == nil)
    }
}
