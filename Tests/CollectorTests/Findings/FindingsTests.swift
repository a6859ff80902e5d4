import Foundation
import Testing

@testable import MartletFindings

/// What the detector finds in small fleets.
@Suite struct FindingsTests {
    private let orders = SampleFleet.Traffic.server("orders")
    private let others = ["users", "files", "stock"].map { SampleFleet.Traffic.server($0) }

    // MARK: Failures and slowness

    @Test func failingEndpointIsFoundWithItsTimesAndKeepsItsID() throws {
        var fleet = SampleFleet()
        fleet.play(40, [orders.failing(0.003)] + others)
        #expect(fleet.findings().isEmpty)
        var ids: Set<String> = []
        for _ in 0..<30 {
            fleet.play(1, [orders.failing(0.4)] + others)
            let findings = fleet.findings()
            #expect(findings.count == 1)
            ids.formUnion(findings.map(\.id))
        }
        let finding = try #require(fleet.findings().first)
        #expect(ids.count == 1)
        #expect(finding.kind == .failing)
        #expect(finding.subject == orders.row.subject)
        #expect(finding.isOpen)
        #expect(abs(try #require(finding.since) - SampleFleet.slot(40)) <= 6)
        #expect(try #require(finding.after).failures > 1000)

        fleet.play(20, [orders.failing(0.003)] + others)
        let over = try #require(fleet.findings().first)
        #expect(!over.isOpen && ids == [over.id])
        #expect(abs(try #require(over.until) - SampleFleet.slot(70)) <= 6)
        #expect(fleet.findings(minutes: 10).isEmpty)
    }

    @Test func slowEndpointIsFoundWithItsTimes() throws {
        var fleet = SampleFleet()
        fleet.play(40, [orders] + others)
        fleet.play(15, [orders.with { $0.seconds = 0.06 }] + others)
        let findings = fleet.findings()
        #expect(findings.map(\.kind) == [.slow])
        let finding = try #require(findings.first)
        #expect(finding.subject == orders.row.subject && finding.side == .server)
        #expect(abs(try #require(finding.since) - SampleFleet.slot(40)) <= 6)
    }

    /// A collector that starts plays three hours, most of them without data.
    @Test(arguments: [0, 60])
    func slownessNeedsMinutesWithDataBeforeIt(empty: Int) {
        var fleet = SampleFleet()
        fleet.play(empty, [])
        fleet.play(10, [orders] + others)
        fleet.play(6, [orders.with { $0.seconds = 0.06 }] + others)
        #expect(fleet.findings().isEmpty)
    }

    @Test func slowCallNamesTheSideThatGrew() throws {
        let call = SampleFleet.Traffic.client("todos", to: "partner")
        var fleet = SampleFleet()
        fleet.play(40, [call] + others)
        fleet.play(15, [call.with { ($0.seconds, $0.queue) = (0.06, 0.2) }] + others)
        #expect(fleet.findings().map(\.side) == [.client])
    }

    @Test func failuresFromTheBeginningHaveNoSince() throws {
        var fleet = SampleFleet()
        fleet.play(30, [orders.failing(0.5)] + others)
        let finding = try #require(fleet.findings().first)
        #expect(finding.kind == .failing && finding.since == nil)
    }

    @Test func whatComesBackWithinHalfAnHourIsOneFinding() throws {
        var fleet = SampleFleet()
        for _ in 0..<2 {
            fleet.play(25, [orders.failing(0.003)] + others)
            fleet.play(10, [orders.failing(0.6)] + others)
        }
        let findings = fleet.findings()
        #expect(findings.count == 1)
        #expect(try #require(findings.first).isOpen)
    }

    @Test func versionThatHasTheFailuresIsNamed() throws {
        var fleet = SampleFleet()
        fleet.play(40, [orders] + others)
        fleet.play(10, [orders.failing(0.4).with { $0.failuresOfVersion2 = 1 }] + others)
        let who = try #require(fleet.findings().first?.who.first)
        #expect(who.dimension == .version && who.value == "2")
        #expect(who.shareOfAll == 0.5)
    }

    @Test func deploymentThatBroughtTheFailuresIsNamed() throws {
        var fleet = SampleFleet()
        func report(_ version: String, _ fleet: inout FleetMinute) {
            let process = ProcessIdentity(service: "orders", version: version, instance: version)
            fleet.processes.append(
                ReportedProcess(process: process, lastSeen: Double(fleet.minute * 60 + 50), memory: nil))
        }
        fleet.play(38, [orders] + others) { report("1", &$1) }
        fleet.play(2, [orders] + others) { report("2", &$1) }
        fleet.play(10, [orders.failing(0.4).with { $0.failuresOfVersion2 = 1 }] + others) { report("2", &$1) }
        let finding = try #require(fleet.findings().first)
        #expect(finding.deployment == Deployment(version: "2", at: SampleFleet.slot(38)))
    }

    @Test func nobodyIsNamedIfFailuresAreEverywhere() throws {
        var fleet = SampleFleet()
        fleet.play(40, [orders] + others)
        fleet.play(10, [orders.failing(0.4)] + others)
        #expect(try #require(fleet.findings().first).who.isEmpty)
    }

    // MARK: One thing, one finding

    @Test func outageOfAPartnerIsOneFindingWithItsCallers() throws {
        let chain = [
            SampleFleet.Traffic.server("edge"), .client("edge", to: "todos"), .server("todos"),
            .client("todos", to: "partner"),
        ]
        var fleet = SampleFleet()
        fleet.play(40, chain + others)
        fleet.play(10, chain.map { $0.failing(0.9) } + others)
        let findings = fleet.findings()
        #expect(findings.count == 1)
        let finding = try #require(findings.first)
        #expect(finding.subject == chain[3].row.subject)
        #expect(finding.also.map(\.service).sorted() == ["edge", "edge", "todos"])
        #expect(finding.title.hasSuffix(". edge fails with it"))
        // Four rows failed with the same requests.
        let failures = try #require(finding.after).failures
        #expect(abs(finding.cost.requests - failures) < failures / 20)
    }

    @Test func serviceThatFailsMoreThanItsDependencyExplainsHasItsOwnFinding() throws {
        let (served, call) = (SampleFleet.Traffic.server("todos"), SampleFleet.Traffic.client("todos", to: "partner"))
        var fleet = SampleFleet()
        fleet.play(40, [served, call] + others)
        fleet.play(10, [served.failing(0.9), call.failing(0.1)] + others)
        #expect(Set(fleet.findings().map(\.subject)) == [served.row.subject, call.row.subject])
    }

    @Test func failuresOfAllEndpointsAreTheService() throws {
        let endpoints = (0..<4).map { SampleFleet.Traffic.server("orders", "/\($0)") }
        var fleet = SampleFleet()
        fleet.play(40, endpoints + others)
        fleet.play(10, endpoints.map { $0.failing(0.3) } + others)
        #expect(fleet.findings().map(\.subject) == [FindingSubject(service: "orders", kind: .server)])
    }

    @Test func findingWithTheMostRequestsComesFirst() {
        var fleet = SampleFleet()
        fleet.play(40, [orders] + others)
        fleet.play(10, [orders.failing(0.2), others[0].failing(0.9)] + others.dropFirst())
        #expect(fleet.findings().map(\.subject.service) == ["users", "orders"])
    }

    // MARK: Quiet

    @Test func noisyFleetHasNoFindings() {
        let rates = [3.0, 12, 40, 90]
        let rows = (0..<16).map { index in
            SampleFleet.Traffic.server("service\(index / 4)", "/\(index)", rate: rates[index % 4])
                .failing([0, 0.002, 0.01, 0.05][index / 4])
        }
        var fleet = SampleFleet(seed: 7)
        for minute in 0..<90 {
            // The pace and the load go up and down slowly.
            let wave = sin(Double(minute) / 9)
            fleet.play(
                1,
                rows.map { $0.with { ($0.seconds, $0.rate) = (0.02 * (1 + 0.08 * wave), $0.rate * (1 + 0.3 * wave)) } })
            #expect(fleet.findings().isEmpty, "in minute \(minute)")
        }
    }

    // MARK: Late points

    @Test func latePointsGiveTheSameFinding() throws {
        var (fleet, late) = (SampleFleet(), SampleFleet())
        late.minutesLate = 1
        for play in [(40, 0.003), (12, 0.5)] {
            fleet.play(play.0, [orders.failing(play.1)] + others)
            late.play(play.0, [orders.failing(play.1)] + others)
        }
        let (one, other) = (try #require(fleet.findings().first), try #require(late.findings().first))
        #expect(one.since == other.since && one.subject == other.subject)
    }

    @Test func countsThatArriveTwiceCountOnce() throws {
        var (fleet, twice) = (SampleFleet(), SampleFleet())
        for play in [(40, 0.003), (12, 0.5)] {
            fleet.play(play.0, [orders.failing(play.1)] + others)
            twice.play(play.0, [orders.failing(play.1)] + others) { $1.rows += $1.rows }
        }
        #expect(fleet.findings() == twice.findings())
    }
}
