import Fixtures
import Foundation
import Martlet
import Testing

extension FaultTests {
    /// The process dies between two steps of shipping, once with its own batches and once with the batches of a dead
    /// instance.
    @Suite(.serialized) struct StepTests {
        /// The step and its occurrence at which the first life dies, and the step at which the next life dies, which
        /// takes over from the first.
        struct Deaths: Sendable, CustomTestStringConvertible {
            let first: ShippingStep
            let occurrence: Int
            let second: ShippingStep

            var testDescription: String { "\(first):\(occurrence), \(second):1" }

            static let all = ShippingStep.allCases.flatMap { first in
                (isFull ? ShippingStep.allCases : [first]).flatMap { second in
                    (isFull ? [1, 4] : [2]).map { Deaths(first: first, occurrence: $0, second: second) }
                }
            }
        }

        @Test(arguments: Deaths.all)
        func aDeathAtAnyStepLosesNothingAndCountsNothingTwice(deaths: Deaths) async throws {
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
    fileprivate func die(_ life: String, at step: ShippingStep, _ occurrence: Int, collector: Int) async throws {
        // The requests are enough for ten intervals, and end a program that never comes to the step.
        let service = try start(
            life, collector: collector, requests: 1500, ["--die", "\(step.rawValue):\(occurrence)"])
        let (status, _, _) = await service.finish()
        #expect(status == -1, "step \(step) was not reached; \(seed)")
    }
}
