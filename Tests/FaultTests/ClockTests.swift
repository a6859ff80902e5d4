import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// The wall clock of the service's process jumps.
    @Suite(.serialized) struct ClockTests {
        @Test(arguments: isFull ? [[3600, -3600, 0], [-3600, 3600, 0]] : [[3600, -3600, 0]])
        func clockChangedByAnHourLosesNothing(jumps: [Int]) async throws {
            try await Scene.run { scene in
                let clock = try await ShiftedClock(in: scene.folder)
                let collector = try await scene.collector()
                scene.server.hold(from: 200)
                let service = try scene.start(
                    "life", collector: collector.port, requests: 800, ["--flushes", "20"],
                    environment: clock.environment)
                for (number, seconds) in jumps.enumerated() {
                    try await scene.wait(while: service, requests: 200 * (number + 1))
                    try clock.shift(by: seconds)
                    scene.server.hold(from: number + 1 < jumps.count ? 200 * (number + 2) : .max)
                }
                let end = try await scene.end(of: service)
                #expect(end.lost == 0, "\(scene.seed)")
                #expect(end.waiting == 0, "\(scene.seed)")
                try await scene.drain(collector: collector.port)
                try await scene.expectEverythingCountedOnce()
            }
        }

        @Test func requestsRecordedInTheFutureAreDeliveredByTheNextStart() async throws {
            try await Scene.run { scene in
                let clock = try await ShiftedClock(in: scene.folder)
                let collector = try await scene.collector()
                await collector.kill()
                for (number, seconds) in [3600, -3600].enumerated() {
                    try clock.shift(by: seconds)
                    let service = try scene.start(
                        "life-\(number)", collector: collector.port, requests: 1_000_000,
                        environment: clock.environment)
                    try await scene.wait(
                        while: service, requests: scene.server.total + scene.seed.draw(number, in: 100...400))
                    await service.stop(with: SIGKILL)
                }
                let back = try await scene.collector(port: collector.port)
                try await scene.drain(collector: back.port)
                try await scene.expectEverythingCountedOnce()
            }
        }
    }
}
