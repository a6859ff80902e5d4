import Fixtures
import Foundation
import MartletTelemetry
import Testing

@testable import MartletReports

/// How often the comparison is right, against known truth. `MARTLET_SIMULATION=full` compares 400 pairs of hours of each kind,
/// as docs/comparison.md shows them, and otherwise 100. The figures are the same each time.
@Suite struct SimulationTests {
    private static let isFull = ProcessInfo.processInfo.environment["MARTLET_SIMULATION"] == "full"
    private static let usual = SimulatedTraffic(autocorrelation: 0.5)

    @Test(arguments: [0, 0.5]) func anUnchangedRowIsRarelyFoundChanged(autocorrelation: Double) {
        let traffic = SimulatedTraffic(autocorrelation: autocorrelation)
        let simulation = Self.compare("none, autocorrelation \(autocorrelation)", traffic, traffic)
        #expect(simulation.share(simulation.found.any) <= 0.03)
        #expect(simulation.share(simulation.foundInOneReport) <= 0.01)
        #expect(simulation.share(simulation.naive) > 0.3)
    }

    /// One window has ten times the requests of the other.
    @Test func anUnchangedRowOfUnequalWindowsIsRarelyFoundChanged() {
        var quiet = Self.usual
        quiet.requestsPerMinute = 20
        let shrunk = Self.compare("none, a tenth of the requests", Self.usual, quiet)
        #expect(shrunk.share(shrunk.found.any) <= 0.03)
        let grown = Self.compare("none, ten times the requests", quiet, Self.usual)
        #expect(grown.share(grown.found.any) <= 0.03)
    }

    @Test func minutesThatResembleEachOtherStronglyCostMoreFalseFindings() {
        let traffic = SimulatedTraffic(autocorrelation: 0.8)
        let simulation = Self.compare("none, autocorrelation 0.8", traffic, traffic)
        #expect(simulation.share(simulation.found.any) <= 0.12)
        #expect(simulation.share(simulation.foundInOneReport) <= 0.02)
    }

    @Test func threeTimesTheFailuresAreFound() {
        let simulation = Self.compare("failures 1 to 3 %") { $0.failureShare = 0.03 }
        #expect(simulation.share(simulation.found.failures) >= 0.9)
    }

    @Test func aFifthMoreTimeIsFound() {
        let simulation = Self.compare("durations +20 %") { $0.slowdown = 1.2 }
        #expect(simulation.share(simulation.found.p50) >= 0.94)
    }

    /// An outage of a part of the window makes its blocks differ from each other.
    @Test(arguments: [56..<60, 52..<60, 45..<60, 35..<60, 20..<25, 15..<30, 10..<35])
    func anOutageOfAPartOfTheWindowIsFound(minutes: Range<Int>) {
        let simulation = Self.compare("30 % fail in minutes \(minutes)") { $0.trouble = (minutes, 0.3, 1) }
        #expect(simulation.share(simulation.found.failures) >= 0.95)
    }

    @Test(arguments: [52..<60, 45..<60, 35..<60, 15..<30])
    func aSlowdownOfAPartOfTheWindowIsFound(minutes: Range<Int>) {
        let simulation = Self.compare("twice as long in minutes \(minutes)") { $0.trouble = (minutes, 0, 2) }
        #expect(simulation.share(simulation.found.any) >= 0.95)
    }

    /// A few failures in a row are no outage. Bursts of rare failures cost some more false findings.
    @Test func anUnchangedRowOfRareFailuresIsRarelyFoundChanged() {
        var traffic = Self.usual
        (traffic.failureShare, traffic.failureSpread) = (0.001, 1)
        let simulation = Self.compare("none, failures 0.1 %", traffic, traffic)
        #expect(simulation.share(simulation.found.any) <= 0.04)
    }

    @Test func fewSlowRequestsAreFound() {
        let simulation = Self.compare("3 % five times as long") { $0.slowShare = 0.03 }
        #expect(simulation.share(simulation.found.p95) >= 0.88)
        #expect(simulation.share(simulation.found.p50) <= 0.03)
    }

    @Test func theFirstFailuresAreFound() {
        let none = SimulatedTraffic(failureShare: 0, failureSpread: 0, autocorrelation: 0.5)
        var some = none
        some.failureShare = 0.001
        let few = Self.compare("failures 0 to 0.1 %", none, some)
        #expect(abs(few.share(few.found.failures) - 0.51) <= (Self.isFull ? 0.05 : 0.1))
        some.failureShare = 0.002
        let more = Self.compare("failures 0 to 0.2 %", none, some)
        #expect(more.share(more.found.failures) >= 0.95)
    }

    /// A verdict without a finding says which change is found in more than 8 of 10 cases.
    @Test func theChangeThatWouldHaveBeenSeenIsSeen() throws {
        let unchanged = Simulation(
            Simulation.Scenario(name: "", before: Self.usual, after: Self.usual), trials: 50, seed: 8)
        let failures = try #require(Self.median(unchanged.smallestChanges.compactMap(\.failures)))
        let p95 = try #require(Self.median(unchanged.smallestChanges.compactMap(\.p95)))
        let failing = Self.compare("failures +\(failures)") { $0.failureShare += failures }
        #expect((0.8...0.97).contains(failing.share(failing.found.failures)))
        let slower = Self.compare("p95 +\(p95)") { $0.slowdown += p95 }
        #expect((0.8...0.99).contains(slower.share(slower.found.p95)))
    }

    @Test func anIntervalHoldsTheTrueQuantile() throws {
        var random = SeededGenerator(seed: 9)
        let windows = (0..<100).map { _ in Self.usual.blocks(using: &random) }
        let blocks = windows.flatMap { $0 }
        let all = ExponentialHistogram(mergedFrom: blocks)
        for share in [0.5, 0.95, 0.99] {
            let truth = try #require(all.quantile(share))
            let holding = windows.count { window in
                let counts = WindowCounts(window, in: SharedBuckets(of: blocks))
                return Verdict.Quantile(share, of: counts).interval.contains(1000 * truth)
            }
            #expect((88...99).contains(holding))
        }
    }

    private static func compare(_ name: String, change: (inout SimulatedTraffic) -> Void) -> Simulation {
        var after = usual
        change(&after)
        return compare(name, usual, after)
    }

    private static func compare(_ name: String, _ before: SimulatedTraffic, _ after: SimulatedTraffic) -> Simulation {
        let scenario = Simulation.Scenario(name: name, before: before, after: after)
        let simulation = Simulation(scenario, trials: isFull ? 400 : 100, seed: 7)
        print(name.padding(toLength: 32, withPad: " ", startingAt: 0) + simulation.line)
        return simulation
    }

    private static func median(_ values: [Double]) -> Double? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }
}
