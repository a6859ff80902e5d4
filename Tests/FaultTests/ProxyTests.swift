import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// A network that randomly drops, delays, cuts and duplicates uploads.
    @Suite(.serialized) struct ProxyTests {
        @Test(arguments: 0..<(isFull ? 8 : 1)) func everyRequestIsCountedOnceOverABadNetwork(time: Int) async throws {
            try await Scene.run { scene in
                // Each run makes other random choices, even if the environment sets the seed.
                let seed = Seed(value: scene.seed.value &+ UInt64(time))
                // The network recovers at the end: with random faults forever, a waiting batch might never arrive.
                let (end, _) = try await scene.serve(requests: isFull ? 1500 : 600) { _, earlier in
                    earlier.count < 100 ? .random(earlier.count, seed) : .pass
                }
                #expect(end.lost == 0, "\(end); \(seed)")
                try await scene.expectEverythingCountedOnce()
            }
        }

        @Test func killedServiceIsCountedOnceOverABadNetwork() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let seed = scene.seed
                let gate = try Gate(collector: collector.port) { _, earlier in .random(earlier.count, seed) }
                for life in 0..<(isFull ? 20 : 3) {
                    let service = try scene.start(
                        "life-\(life)", collector: gate.port, requests: 1_000_000,
                        environment: ["MARTLET_EXPORT_TIMEOUT": "1s"])
                    try await scene.wait(while: service, requests: scene.server.total + seed.draw(life, in: 1...500))
                    await service.stop(with: SIGKILL)
                }
                gate.close()
                try await scene.drain(collector: collector.port)
                try await scene.expectEverythingCountedOnce()
            }
        }
    }
}
