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

        /// The service's own requests go to `127.0.0.1`, which the environment excludes, so only uploads could come.
        @Test func proxyOfTheEnvironmentGetsNoUploadsForACollectorOnTheHost() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let proxy = try Gate(collector: collector.port) { _, _ in .pass }
                let address = "http://127.0.0.1:\(proxy.port)"
                let service = try scene.start(
                    "life", collector: collector.port, requests: 200,
                    environment: [
                        "MARTLET_ENDPOINT": "http://localhost:\(collector.port)", "http_proxy": address,
                        "all_proxy": address, "no_proxy": "127.0.0.1",
                    ])
                let end = try await scene.end(of: service)
                #expect(proxy.uploads.isEmpty)
                #expect(end.lost == 0 && end.waiting == 0, "\(end); \(scene.seed)")
                try await scene.expectEverythingCountedOnce()
            }
        }

        /// Only the proxy knows the collector's name.
        @Test func uploadsToAPublicNameGoOverTheConfiguredProxy() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let proxy = try Gate(collector: collector.port) { _, _ in .pass }
                let service = try scene.start(
                    "life", collector: collector.port, requests: 200,
                    environment: [
                        "MARTLET_ENDPOINT": "http://collector.example.com",
                        "MARTLET_PROXY": "http://grace:hunter2@127.0.0.1:\(proxy.port)",
                    ])
                let end = try await scene.end(of: service)
                #expect(end.lost == 0 && end.waiting == 0, "\(end); \(scene.seed)")
                let uploads = proxy.uploads.map(\.message)
                #expect(uploads.allSatisfy { $0.target.hasPrefix("http://collector.example.com/v1/") })
                #expect(uploads.allSatisfy { $0.proxyAuthorization == "Basic Z3JhY2U6aHVudGVyMg==" })
                try await scene.expectEverythingCountedOnce()
            }
        }
    }
}
