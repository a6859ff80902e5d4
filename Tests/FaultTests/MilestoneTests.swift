import Fixtures
import Foundation
import Martlet
import Testing

extension FaultTests {
    /// The process dies between two milestones of shipping, once with its own batches and once with the batches of a dead
    /// instance.
    @Suite(.serialized) struct MilestoneTests {
        /// The milestone and its occurrence at which the first life dies, and the milestone at which the next life dies, which
        /// takes over from the first.
        struct Deaths: Sendable, CustomTestStringConvertible {
            let first: ShippingMilestone
            let occurrence: Int
            let second: ShippingMilestone

            var testDescription: String { "\(first):\(occurrence), \(second):1" }

            static let all = ShippingMilestone.allCases.flatMap { first in
                (isFull ? ShippingMilestone.allCases : [first]).flatMap { second in
                    (isFull ? [1, 4] : [2]).map { Deaths(first: first, occurrence: $0, second: second) }
                }
            }
        }

        @Test(arguments: Deaths.all)
        func aDeathAtAnyMilestoneLosesNothingAndCountsNothingTwice(deaths: Deaths) async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                try await scene.die("first", at: deaths.first, deaths.occurrence, collector: collector.port)
                try await scene.die("second", at: deaths.second, 1, collector: collector.port)
                try await scene.drain(collector: collector.port)
                try await scene.expectEverythingCountedOnce()
            }
        }
    }
}

extension Scene {
    fileprivate func die(_ life: String, at milestone: ShippingMilestone, _ occurrence: Int, collector: Int)
        async throws
    {
        // The requests are enough for ten intervals, and end a program that never comes to the milestone.
        let service = try start(
            life, collector: collector, requests: 1500, ["--die", "\(milestone.rawValue):\(occurrence)"])
        let (status, _, _) = await service.finish()
        #expect(status == -1, "milestone \(milestone) was not reached; \(seed)")
    }
}
