import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// A service can end although its collector accepts everything and never answers.
    ///
    /// The limits are the documented ones plus 10 seconds, because a busy machine may not schedule a process for so
    /// long.
    @Suite(.serialized) struct ShutdownTests {
        @Test(arguments: isFull ? [0.5, 2] : [0.5])
        func shutdownEndsInTimeAndTheNextStartDeliversTheRest(limit: Double) async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let gate = try Gate(collector: collector.port) { _, _ in .hang }
                let service = try scene.start(
                    "life", collector: gate.port, requests: 400, ["--flushes", "0", "--within", "\(limit)"],
                    environment: ["MARTLET_EXPORT_TIMEOUT": "60s"])
                let end = try await scene.end(of: service)
                #expect(end.shutdownSeconds < limit + 10, "\(scene.seed)")
                #expect(end.delivered == 0, "\(scene.seed)")
                #expect(end.waiting == 400, "\(scene.seed)")
                gate.close()
                try await scene.drain(collector: collector.port)
                try await scene.expectEverythingCountedOnce()
            }
        }

        @Test func serviceGroupEndsWithinFiveSecondsOfSIGTERM() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let gate = try Gate(collector: collector.port) { _, _ in .hang }
                let service = try scene.start(
                    "life", collector: gate.port, ["--lifecycle"], environment: ["MARTLET_EXPORT_TIMEOUT": "60s"])
                try await scene.wait(while: service, requests: 200)
                try await scene.wait(while: service) { !gate.uploads.isEmpty }
                let start = ContinuousClock.now
                #expect(await service.stop(with: SIGTERM) == 0, "\(scene.seed)")
                #expect(ContinuousClock.now - start < .seconds(15), "\(scene.seed)")
                let end = try await scene.end(of: service)
                #expect(end.waiting == end.captured, "\(scene.seed)")
                gate.close()
                try await scene.drain(collector: collector.port)
                try await scene.expectEverythingCountedOnce()
            }
        }
    }
}
