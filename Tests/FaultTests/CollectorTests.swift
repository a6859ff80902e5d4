import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// The collector itself goes down and recovers.
    @Suite(.serialized) struct CollectorTests {
        @Test func collectorKilledAndRestartedMissesNothingAndCountsNothingTwice() async throws {
            try await Scene.run { scene in
                var collector = try await scene.collector()
                let port = collector.port
                let kills = isFull ? 20 : 4
                let service = try scene.start("life", collector: port, requests: kills * 300, ["--flushes", "20"])
                for kill in 0..<kills {
                    try await scene.wait(while: service, requests: kill * 290 + scene.seed.draw(kill, in: 1...290))
                    await collector.kill()
                    collector = try await scene.collector(port: port)
                }
                let end = try await scene.end(of: service)
                try await scene.drain(collector: port)
                #expect(end.captured == kills * 300)
                #expect(end.lost == 0)
                try await scene.expectEverythingCountedOnce()
                withExtendedLifetime(collector) {}
            }
        }

        @Test func afterReplacingACollectorEachRequestIsInOneOfTheTwo() async throws {
            try await Scene.run { scene in
                let store = scene.folder.path("first.sqlite")
                let first = try await scene.collector(store: store)
                let service = try scene.start("life", collector: first.port, requests: 3000, ["--flushes", "20"])
                try await scene.wait(while: service, requests: scene.seed.draw(0, in: 200...500))
                while try await scene.report(of: store).totals.measures.count == 0 {}
                // The collector is terminated and not killed, so that it acknowledges every batch that it has stored.
                _ = await first.terminate()
                let second = try await scene.collector(port: first.port, store: scene.folder.path("second.sqlite"))
                let end = try await scene.end(of: service)
                try await scene.drain(collector: second.port)
                #expect(end.captured == 3000)
                let stores = [store, scene.folder.path("second.sqlite")]
                for store in stores {
                    let count = try await scene.report(of: store).totals.measures.count
                    #expect(count > 0, "\(scene.seed)")
                }
                try await scene.expectEverythingCountedOnce(stores: stores)
            }
        }
    }
}
