import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// Services that share a name and a folder, and a service whose collector or token has changed.
    @Suite(.serialized) struct SharedBufferTests {
        /// A collector with its own store and its own token.
        private struct Destination {
            let store: String
            let token: String
            let port: Int

            var environment: [String: String] { ["MARTLET_TOKEN": token] }

            /// Chooses a port. The collector is down at first, so that batches wait.
            init(_ name: String, in scene: Scene) async throws {
                (store, token) = (scene.folder.path("\(name).sqlite"), "token-of-\(name)")
                let process = try await Self.open(store: store, token: token, port: 0)
                port = process.port
                await process.kill()
            }

            func open(token: String? = nil) async throws -> CollectorProcess {
                try await Self.open(store: store, token: token ?? self.token, port: port)
            }

            private static func open(store: String, token: String, port: Int) async throws -> CollectorProcess {
                try await CollectorProcess(
                    store: store, port: port, environment: ["MARTLET_COLLECTOR_INGEST_TOKEN": token])
            }
        }

        /// Starts a service while its collector is down and kills it, so that batches and a journal remain.
        private func leave(
            _ life: String, for destination: Destination, in scene: Scene, _ environment: [String: String] = [:]
        )
            async throws
        {
            let service = try scene.start(
                life, collector: destination.port, requests: 1_000_000,
                environment: destination.environment.merging(environment) { $1 })
            try await scene.wait(while: service, requests: scene.server.total + 200)
            await service.stop(with: SIGKILL)
            #expect(scene.waiting.contains { $0.contains("-metrics-") })
        }

        /// Runs a service to its end, and returns its log.
        private func run(
            _ life: String, for destination: Destination, in scene: Scene, _ environment: [String: String] = [:]
        ) async throws -> String {
            let service = try scene.start(
                life, collector: destination.port, requests: 100, ["--flushes", "100"],
                environment: destination.environment.merging(environment) { $1 })
            let (status, _, errors) = await service.finish()
            #expect(status == 0, "\(errors)")
            return errors
        }

        /// Returns the names of the lives that have requests in a store.
        private func lives(in destination: Destination, of scene: Scene) async throws -> Set<String> {
            Set(
                try await scene.report(of: destination.store).rows.compactMap { row in
                    (row.dimensions[.endpoint] ?? nil)?.split(separator: "/").first.map(String.init)
                })
        }

        @Test func servicesWithTheSameNameAndFolderNeverTakeEachOthersBatches() async throws {
            try await Scene.run { scene in
                let (ours, theirs) = (
                    try await Destination("ours", in: scene), try await Destination("theirs", in: scene)
                )
                try await leave("ours-early", for: ours, in: scene)
                try await leave("theirs-early", for: theirs, in: scene)
                let (first, second) = (try await ours.open(), try await theirs.open())
                let log = try await run("theirs-late", for: theirs, in: scene)
                #expect(try await lives(in: ours, of: scene) == [])
                #expect(log.contains("wait in the buffer for http://127.0.0.1:\(ours.port)"), "\(log)")
                _ = try await run("ours-late", for: ours, in: scene)
                #expect(try await lives(in: ours, of: scene) == ["ours-early", "ours-late"])
                #expect(try await lives(in: theirs, of: scene) == ["theirs-early", "theirs-late"])
                try await scene.expectEverythingCountedOnce(stores: [ours.store, theirs.store])
                withExtendedLifetime((first, second)) {}
            }
        }

        @Test func batchesWaitingWhenTheAddressChangesGoToTheOldOne() async throws {
            try await Scene.run { scene in
                let shared = ["MARTLET_TOKEN": "one-for-both"]
                let (old, new) = (try await Destination("old", in: scene), try await Destination("new", in: scene))
                try await leave("early", for: old, in: scene, shared)
                let first = try await old.open(token: "one-for-both")
                let second = try await new.open(token: "one-for-both")
                _ = try await run("late", for: new, in: scene, shared)
                let own = shared.merging(["MARTLET_BUFFER_ADOPT": ""]) { $1 }
                try await scene.drain(collector: new.port, environment: own)
                #expect(try await lives(in: old, of: scene) == ["early"])
                #expect(try await lives(in: new, of: scene) == ["late"])
                try await scene.expectEverythingCountedOnce(stores: [old.store, new.store])
                withExtendedLifetime((first, second)) {}
            }
        }

        /// The old address is gone for good, or the token has changed.
        @Test(arguments: [true, false]) func adoptedBatchesGoToTheCurrentCollector(hasMoved: Bool) async throws {
            try await Scene.run { scene in
                let old = try await Destination("old", in: scene)
                let new = hasMoved ? try await Destination("new", in: scene) : old
                try await leave("early", for: old, in: scene)
                let present = hasMoved ? old.token : "new"
                let collector = try await new.open(token: present)
                let token = ["MARTLET_TOKEN": present]
                let log = try await run("late", for: new, in: scene, token)
                #expect(try await lives(in: new, of: scene) == ["late"])
                #expect(
                    !scene.waiting.contains { $0.hasSuffix(".journal") }, "what waits is in batches, which have a limit"
                )
                let address = "http://127.0.0.1:\(old.port)"
                #expect(
                    log.components(separatedBy: "MARTLET_BUFFER_ADOPT=\(address) to send them").count == 2, "\(log)")
                try await scene.drain(
                    collector: new.port, environment: token.merging(["MARTLET_BUFFER_ADOPT": address]) { $1 })
                #expect(try await lives(in: new, of: scene) == ["early", "late"])
                try await scene.expectEverythingCountedOnce(stores: [new.store])
                withExtendedLifetime(collector) {}
            }
        }

        @Test func silentOldCollectorDelaysNoOtherBatch() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let gate = try Gate(collector: collector.port) { _, _ in .hang }
                let early = try scene.start("early", collector: gate.port, requests: 1_000_000)
                try await scene.wait(while: early) { !gate.uploads.isEmpty }
                await early.stop(with: SIGKILL)
                let uploads = gate.uploads.count
                let late = try scene.start(
                    "late", collector: collector.port, requests: 200, ["--flushes", "0"],
                    environment: ["MARTLET_EXPORT_TIMEOUT": "60s"])
                try await scene.wait(while: late) { gate.uploads.count > uploads }
                let end = try await scene.end(of: late)
                #expect((end.captured, end.delivered) == (200, 200), "\(end); \(scene.seed)")
                gate.close()
                try await scene.drain(collector: collector.port)
                try await scene.expectEverythingCountedOnce()
            }
        }

        /// The service that recorded a request names its endpoint, even if another service folds its journal.
        @Test func journalIsFoldedWithTheTemplatesOfItsOwnService() async throws {
            try await Scene.run { scene in
                let shared = ["MARTLET_TOKEN": "one-for-both"]
                let destination = try await Destination("destination", in: scene)
                let templates = shared.merging(["MARTLET_ENDPOINTS": "/{life}/*", "MARTLET_INTERVAL": "60s"]) { $1 }
                let service = try scene.start(
                    "early", collector: destination.port, requests: 1_000_000, environment: templates)
                try await scene.wait(while: service, requests: 200)
                await service.stop(with: SIGKILL)
                let collector = try await destination.open(token: "one-for-both")
                _ = try await run("late", for: destination, in: scene, shared)
                #expect(try await lives(in: destination, of: scene) == ["{life}", "late"])
                withExtendedLifetime(collector) {}
            }
        }
    }
}
