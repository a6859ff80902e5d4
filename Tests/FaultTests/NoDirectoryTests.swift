import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// A service that can write to no directory, as in a container with a read-only root and no volume.
    @Suite(.serialized) struct NoDirectoryTests {
        /// Even root cannot make a directory below a device.
        static let environment = [
            "MARTLET_BUFFER_DIR": "/dev/null/buffer", "HOME": "/nonexistent", "TMPDIR": "/dev/null/tmp",
        ]

        @Test func everyRequestArrivesWithoutADirectory() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let service = try scene.start(
                    "life", collector: collector.port, requests: 400, environment: Self.environment)
                let (status, output, errors) = await service.finish()
                #expect(status == 0, "\(errors)")
                let end = try JSONDecoder().decode(AgentReport.self, from: Data(output.utf8))
                #expect((end.captured, end.delivered) == (400, 400), "\(end); \(scene.seed)")
                let said = errors.split(separator: "\n").filter { $0.contains(" warning martlet") }
                #expect(said.count == 1, "\(errors)")
                #expect(said.first?.contains("undelivered requests are lost") == true, "\(errors)")
                try await scene.expectEverythingCountedOnce()
            }
        }

        @Test func recoveredCollectorGetsTheBatchesInMemory() async throws {
            try await Scene.run { scene in
                let away = try await scene.collector()
                await away.kill()
                scene.server.hold(from: 400)
                let service = try scene.start(
                    "life", collector: away.port, requests: 600, ["--flushes", "200"], environment: Self.environment)
                try await scene.wait(while: service, requests: 400)
                let back = try await scene.collector(port: away.port)
                scene.server.release()
                let end = try await scene.end(of: service)
                #expect((end.captured, end.delivered) == (600, 600), "\(end); \(scene.seed)")
                try await scene.expectEverythingCountedOnce()
                withExtendedLifetime(back) {}
            }
        }

        @Test func eachRequestIsCountedOnceUnderAnyAnswer() async throws {
            try await Scene.run { scene in
                let treatments: [Treatment] = [
                    .storeThenReset, .answer(503), .answer(429), .cutAnswer(10), .duplicate, .answer(413), .reset,
                    .answer(413), .answer(413), .storeThenHang,
                ]
                let (end, gate) = try await scene.serve(
                    options: ["--workers", "16"], environment: Self.environment
                ) { _, earlier in earlier.count < treatments.count ? treatments[earlier.count] : .pass }
                // A batch of one series cannot be divided.
                #expect(Set(end.dropped.keys).isSubset(of: ["too_large"]), "\(end); \(scene.seed)")
                #expect(end.waiting == 0, "\(end); \(scene.seed)")
                #expect(gate.uploads.map(\.treatment).starts(with: treatments), "\(scene.seed)")
                try await scene.expectLedgerExplains(end)
            }
        }

        @Test func oldestBatchesAreDroppedAboveTheLimitAndCounted() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let gate = try Gate(collector: collector.port) { _, _ in
                    FileManager.default.fileExists(atPath: scene.folder.path("back")) ? .pass : .answer(503)
                }
                scene.server.hold(from: 600)
                let service = try scene.start(
                    "life", collector: gate.port, requests: 700, ["--flushes", "200"],
                    environment: Self.environment.merging(["MARTLET_BUFFER_MAX": "1500"]) { $1 })
                try await scene.wait(while: service, requests: 600)
                try Data().write(to: scene.folder.url.appendingPathComponent("back"))
                scene.server.release()
                let end = try await scene.end(of: service)
                #expect(end.dropped.keys.sorted() == ["buffer_full"], "\(end); \(scene.seed)")
                #expect(end.waiting == 0, "\(end); \(scene.seed)")
                try await scene.expectLedgerExplains(end)
                try await scene.expectCollectorKnows(end)
            }
        }

        /// The collector is down until the end, so the agent can deliver nothing from memory.
        @Test func batchesInMemoryAreStoredOnceADirectoryCanBeMade() async throws {
            try await Scene.run { scene in
                let away = try await scene.collector()
                await away.kill()
                try Data().write(to: scene.buffer)
                scene.server.hold(from: 300)
                let service = try scene.start(
                    "life", collector: away.port, requests: 600, ["--flushes", "5"],
                    environment: ["TMPDIR": "/dev/null/tmp"])
                try await scene.wait(while: service, requests: 300)
                try FileManager.default.removeItem(at: scene.buffer)
                scene.server.release()
                let end = try await scene.end(of: service)
                #expect((end.captured, end.waiting) == (600, 600), "\(end); \(scene.seed)")
                let back = try await scene.collector(port: away.port)
                try await scene.drain(collector: back.port)
                try await scene.expectEverythingCountedOnce()
            }
        }

        /// Undelivered requests are lost with the process. Each reported request has really been made.
        @Test func killedServiceLosesOnlyItsWaitingRequests() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                scene.server.hold(from: 300)
                let service = try scene.start(
                    "life", collector: collector.port, requests: 1_000_000, environment: Self.environment)
                try await scene.wait(while: service, requests: 300)
                // Requests with delayed answers have not ended.
                while try await scene.tally().totals.reported < 296 {}
                await service.stop(with: SIGKILL)
                let tally = try await scene.tally()
                #expect(tally.complaints == [], "\(scene.seed)")
            }
        }
    }
}
