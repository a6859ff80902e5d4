import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// The service is killed repeatedly under load.
    @Suite(.serialized) struct KillTests {
        @Test func repeatedlyKilledServiceLosesNoEndedRequest() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                for life in 0..<(isFull ? 50 : 8) {
                    let service = try scene.start("life-\(life)", collector: collector.port, requests: 1_000_000)
                    try await scene.wait(
                        while: service, requests: scene.server.total + scene.seed.draw(life, in: 1...400))
                    await service.stop(with: SIGKILL)
                }
                let last = try scene.start("last", collector: collector.port, requests: 100)
                #expect(try await scene.end(of: last).captured == 100)
                try await scene.drain(collector: collector.port)
                try await scene.expectEverythingCountedOnce()
            }
        }

        /// Batches accumulate, so a killed service was delivering the batches of dead instances.
        @Test func serviceKilledWhileTheCollectorIsDownLosesNothing() async throws {
            try await Scene.run { scene in
                let away = try await scene.collector()
                await away.kill()
                for life in 0..<(isFull ? 20 : 3) {
                    let service = try scene.start("life-\(life)", collector: away.port, requests: 1_000_000)
                    try await scene.wait(
                        while: service, requests: scene.server.total + scene.seed.draw(life, in: 1...400))
                    await service.stop(with: SIGKILL)
                }
                let back = try await scene.collector(port: away.port)
                for life in 0..<(isFull ? 20 : 3) {
                    let service = try scene.start("heir-\(life)", collector: back.port, requests: 1_000_000)
                    try await scene.wait(
                        while: service, requests: scene.server.total + scene.seed.draw(100 + life, in: 1...60))
                    await service.stop(with: SIGKILL)
                }
                try await scene.drain(collector: back.port)
                try await scene.expectEverythingCountedOnce()
            }
        }

        @Test func requestsOfTwoProcessesWithOneBufferCountOnceIfOneIsKilled() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                for life in 0..<(isFull ? 10 : 2) {
                    let staying = try scene.start("staying-\(life)", collector: collector.port, requests: 400)
                    let killed = try scene.start("killed-\(life)", collector: collector.port, requests: 1_000_000)
                    try await scene.wait(
                        while: killed, requests: scene.server.total + scene.seed.draw(life, in: 50...500))
                    await killed.stop(with: SIGKILL)
                    let heir = try scene.start("heir-\(life)", collector: collector.port, requests: 50)
                    #expect(try await scene.end(of: staying).captured == 400)
                    #expect(try await scene.end(of: heir).captured == 50)
                }
                try await scene.drain(collector: collector.port)
                try await scene.expectEverythingCountedOnce()
            }
        }
    }
}
