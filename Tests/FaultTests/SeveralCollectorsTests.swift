import Fixtures
import Foundation
import Synchronization
import Testing

extension FaultTests {
    /// A service with two collectors, one of which goes down during uploads.
    @Suite(.serialized) struct SeveralCollectorsTests {
        private final class Weather: Sendable {
            let isCalm = Atomic(false)
        }

        /// The variables of a service with these collectors that adopts no other batches.
        private func environment(_ ports: [Int]) -> [String: String] {
            let list = ports.map { "http://127.0.0.1:\($0)" }.joined(separator: ",")
            return ["MARTLET_ENDPOINT": list, "MARTLET_BUFFER_ADOPT": "", "MARTLET_EXPORT_TIMEOUT": "1s"]
        }

        /// Two stores: if one of them may have a batch, it must not reach the other.
        @Test func twoStoresWithCollectorsKilledInTurnCountEachRequestInOneOfThem() async throws {
            try await Scene.run { scene in
                let stores = [scene.store, scene.folder.path("second.sqlite")]
                var collectors = [try await scene.collector(), try await scene.collector(store: stores[1])]
                let ports = collectors.map(\.port)
                let kills = isFull ? 30 : 6
                let service = try scene.start(
                    "life", collector: ports[0], requests: kills * 300, ["--flushes", "20"],
                    environment: environment(ports))
                for kill in 0..<kills {
                    try await scene.wait(while: service, requests: kill * 290 + scene.seed.draw(kill, in: 1...290))
                    let which = scene.seed.draw(1000 + kill, in: 0...1)
                    await collectors[which].kill()
                    collectors[which] = try await scene.collector(port: ports[which], store: stores[which])
                }
                let end = try await scene.end(of: service)
                try await scene.drain(collector: ports[0], environment: environment(ports))
                #expect(end.captured == kills * 300)
                #expect(end.lost == 0)
                try await scene.expectEverythingCountedOnce(stores: stores)
                withExtendedLifetime(collectors) {}
            }
        }

        /// The gates act as two collectors, and each loses answers that its store has given.
        @Test func twoStoresOverABadNetworkCountEachRequestInOneOfThem() async throws {
            try await Scene.run { scene in
                let stores = [scene.store, scene.folder.path("second.sqlite")]
                let collectors = [try await scene.collector(), try await scene.collector(store: stores[1])]
                try await serve(scene, collectors.map(\.port), kills: isFull ? 20 : 3)
                try await scene.expectEverythingCountedOnce(stores: stores)
                withExtendedLifetime(collectors) {}
            }
        }

        /// Two routes to one store, like two collectors with one database.
        @Test func twoCollectorsOfOneStoreCountEachRequestOnceOverABadNetwork() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                try await serve(scene, [collector.port, collector.port], kills: isFull ? 20 : 3)
                try await scene.expectEverythingCountedOnce()
                withExtendedLifetime(collector) {}
            }
        }

        /// Runs services behind gates, kills all except the last, and delivers the waiting batches.
        private func serve(_ scene: Scene, _ collectors: [Int], kills: Int) async throws {
            let (seed, weather) = (scene.seed, Weather())
            let gates = try collectors.enumerated().map { number, port in
                try Gate(collector: port) { _, earlier in
                    weather.isCalm.load(ordering: .relaxed) ? .pass : .random(earlier.count * 2 + number, seed)
                }
            }
            let environment = environment(gates.map(\.port))
            var life = 0
            // Each process prefers one of the collectors by a hash, so by chance a few may all prefer the same.
            while life < kills || life < 100 && gates.contains(where: { $0.uploads.isEmpty }) {
                let service = try scene.start(
                    "life-\(life)", collector: gates[0].port, requests: 1_000_000, environment: environment)
                try await scene.wait(while: service, requests: scene.server.total + seed.draw(life, in: 50...400))
                await service.stop(with: SIGKILL)
                life += 1
            }
            // With random faults forever, a waiting batch might never arrive.
            weather.isCalm.store(true, ordering: .relaxed)
            let last = try scene.start(
                "last", collector: gates[0].port, requests: 300, ["--flushes", "100"], environment: environment)
            #expect(try await scene.end(of: last).captured == 300)
            try await scene.drain(collector: gates[0].port, environment: environment)
            for gate in gates { #expect(!gate.uploads.isEmpty, "\(seed)") }
        }
    }
}
