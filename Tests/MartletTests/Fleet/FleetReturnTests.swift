import Foundation
import Testing

/// The return of a fleet's collector after an outage, in virtual time, with the agent's own decisions. The random numbers are
/// the same in each run.
@Suite struct FleetReturnTests {
    /// Runs a small fleet.
    ///
    /// - Parameter change: to the terms: an outage of ten minutes of a collector that stores twice what the fleet makes.
    private func run(_ change: (inout Fleet.Terms) -> Void = { _ in }) -> Fleet.Result {
        var terms = Fleet.Terms(agents: 200, outage: 600)
        change(&terms)
        var fleet = Fleet(terms)
        return fleet.run()
    }

    private func refusals(_ result: Fleet.Result) -> Int { result.collectors.reduce(0) { $0 + $1.refusals } }

    /// No strategy can be faster than an outage's batches at the rate that is left beside the new ones: ten minutes.
    @Test func fleetCatchesUpAlmostAsFastAsItsCollectorCan() {
        let result = run()
        #expect((599...660).contains(result.all), "\(result.all)")
        #expect(result.collectors[0].late == 0)
    }

    @Test func pausesAvoidNearlyAllRefusals() {
        let (with, without) = (run(), run { $0.isPaced = false })
        #expect(refusals(with) * 5 < refusals(without), "\(refusals(with)) and \(refusals(without))")
        #expect(with.all < without.all * 1.1)
    }

    @Test func agentsAskedToWaitForAMinuteDoNotAllReturnAtOnce() {
        let wait = { (terms: inout Fleet.Terms) in (terms.retryAfter, terms.isPaced) = (60, false) }
        let random = run(wait)
        let fixed = run {
            wait(&$0)
            $0.isJittered = false
        }
        #expect(random.all < fixed.all, "\(random.all) and \(fixed.all)")
    }

    @Test func otherCollectorTakesAllBatchesOfTheFleet() {
        let result = run { $0.collectors = 2 }
        #expect(refusals(result) == 0)
        // Nothing waits any more when every agent has had its first interval after the return.
        #expect(result.all <= 20, "\(result.all)")
        #expect(result.collectors[1].stored > 200 * 120)
    }

    /// Prints the table of docs/uploads.md for as many agents as the variable says.
    @Test(.enabled(if: FleetTable.agents != nil, "belongs to another lane: a table for the documents"))
    func tableOfALargeFleet() {
        for row in FleetTable.rows() { print(row) }
    }
}
