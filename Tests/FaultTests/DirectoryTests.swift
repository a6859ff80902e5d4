import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// Another process removes the agent's files while the service runs.
    @Suite(.serialized) struct DirectoryTests {
        enum Removed: String, Sendable, CaseIterable {
            case buffer, service, instances, batches, locks
        }

        @Test(arguments: isFull ? Removed.allCases : [.service, .batches, .locks])
        func ledgerCountsEveryRequestOfRemovedFiles(removed: Removed) async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                // Every upload waits until the directory has been removed.
                let gate = try Gate(collector: collector.port) { _, _ in
                    FileManager.default.fileExists(atPath: scene.folder.path("removed")) ? .pass : .answer(503)
                }
                scene.server.hold(from: 300)
                defer { scene.server.release() }
                let service = try scene.start("life", collector: gate.port, requests: 900, ["--flushes", "200"])
                try await scene.wait(while: service, requests: 300)
                try await scene.wait(while: service) { !gate.uploads.isEmpty }
                try scene.remove(removed)
                try Data().write(to: scene.folder.url.appendingPathComponent("removed"))
                // When uploads succeed again, the agent has noticed the loss; later batches report it.
                scene.server.hold(from: 600)
                try await scene.wait(while: service) { gate.uploads.contains { $0.treatment == .pass } }
                scene.server.release()
                let end = try await scene.end(of: service)
                #expect(Set(end.dropped.keys).isSubset(of: ["gone"]), "\(end); \(scene.seed)")
                #expect(removed != .locks || end.lost == 0, "\(end); \(scene.seed)")
                #expect(end.waiting == 0, "\(end); \(scene.seed)")
                #expect(scene.waiting == [], "\(scene.seed)")
                try await scene.expectLedgerExplains(end)
                try await scene.expectCollectorKnows(end)
            }
        }
    }
}

extension Scene {
    fileprivate func remove(_ removed: FaultTests.DirectoryTests.Removed) throws {
        let isRemoved: (String) -> Bool =
            switch removed {
            case .buffer: { $0 == "buffer" }
            case .service: { $0 == "buffer/faulty" }
            case .instances: { $0.components(separatedBy: "/").count == 3 && !$0.hasSuffix(".lock") }
            case .batches: { $0.contains(".otlp") }
            case .locks: { $0.hasSuffix(".lock") }
            }
        let paths = folder.contents().filter { $0.hasPrefix("buffer") && isRemoved($0) }
        #expect(!paths.isEmpty, "there was nothing to remove; \(seed)")
        // The agent may have removed a delivered batch meanwhile.
        for path in paths { try? FileManager.default.removeItem(atPath: folder.path(path)) }
    }
}
