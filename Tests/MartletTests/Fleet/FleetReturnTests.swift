import Foundation
import Testing

/// A fleet after an outage of its collector, in virtual time. The agents decide with the library's own types. The
/// random numbers are the same in each run.
@Suite struct FleetReturnTests {
    /// Runs a small fleet.
    ///
    /// - Parameter change: changes the terms. Their default is an outage of ten minutes of a collector that stores
    ///   twice as fast as the fleet makes batches.
    private func run(_ change: (inout Fleet.Terms) -> Void = { _ in }) -> Fleet.Result {
        var terms = Fleet.Terms(agents: 200, outage: 600)
        change(&terms)
        var fleet = Fleet(terms)
        return fleet.run()
    }

    private func refusals(_ result: Fleet.Result) -> Int { result.collectors.reduce(0) { $0 + $1.refusals } }

    /// Ten minutes is the optimum: the batches of the outage at the rate that is left after the new ones.
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
        // Nothing waits any more once every agent has had its first interval after the recovery.
        #expect(result.all <= 20, "\(result.all)")
        #expect(result.collectors[1].stored > 200 * 120)
    }

    /// Prints the table of docs/internals/uploads.md, for the number of agents in the variable.
    @Test(.enabled(if: FleetTable.agents != nil, "belongs to another lane: a table for the documents"))
    func tableOfALargeFleet() {
        for row in FleetTable.rows() { print(row) }
    }
}
