import Fixtures
import Foundation
import Martlet
import Testing

extension FaultTests {
    /// The process dies between two milestones of shipping, once with its own batches and once with those of a dead
    /// instance.
    @Suite(.serialized) struct MilestoneTests {
        /// The milestone, and its occurrence, at which the first life dies, and the milestone at which the next life
        /// dies, which takes over from the first.
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
        func deathAtAnyMilestoneLosesNothingAndCountsNothingTwice(deaths: Deaths) async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                try await scene.die("first", at: deaths.first, deaths.occurrence, collector: collector.port)
                try await scene.die("second", at: deaths.second, 1, collector: collector.port)
                // On a busy machine the first two may die before their first request.
                _ = try await scene.end(of: scene.start("third", collector: collector.port, requests: 10))
                try await scene.drain(collector: collector.port)
                try await scene.expectEverythingCountedOnce()
            }
        }

        @Test(arguments: ShippingMilestone.allCases)
        func sumsOfADeadProcessHaveEachOfItsRequestsOnce(milestone: ShippingMilestone) async throws {
            try await Scene.run { scene in
                let cumulative = ["MARTLET_TEMPORALITY": "cumulative"]
                let collector = try await scene.collector()
                let port = collector.port
                try await scene.die("first", at: milestone, 4, collector: port, environment: cumulative)
                try await scene.die("second", at: milestone, 1, collector: port, environment: cumulative)
                try await scene.drain(collector: port, environment: cumulative)
                try await scene.expectEverythingCountedOnce()
            }
        }
    }
}

extension Scene {
    fileprivate func die(
        _ life: String, at milestone: ShippingMilestone, _ occurrence: Int, collector: Int,
        environment: [String: String] = [:]
    ) async throws {
        // The requests last for ten intervals, so a program that never reaches the milestone ends.
        let service = try start(
            life, collector: collector, requests: 1500, ["--die", "\(milestone.rawValue):\(occurrence)"],
            environment: environment)
        let (status, _, _) = await service.finish()
        #expect(status == -1, "milestone \(milestone) was not reached; \(seed)")
    }
}
